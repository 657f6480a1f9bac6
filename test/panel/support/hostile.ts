/** Strings that are known to break pages, and the checks for whether one broke ours. */
export const HOSTILE: readonly string[] = [
  `<script>alert(1)</script>`,
  `"><script>alert(1)</script>`,
  `'><img src=x onerror=alert(1)>`,
  `<img src="http://192.0.2.1/x.png">`,
  `" onmouseover="alert(1)" x="`,
  `' autofocus onfocus='alert(1)`,
  '` onclick=`alert(1)',
  `</textarea><script>alert(1)</script>`,
  `</title></head><body onload=alert(1)>`,
  `--><svg/onload=alert(1)>`,
  `<!-- <b>`,
  `<![CDATA[<b>x</b>]]>`,
  `<iframe srcdoc="<script>alert(1)</script>">`,
  `<form action="http://192.0.2.1/"><button>Sign in</button>`,
  `</form><form method="post" action="/account/delete">`,
  `<meta http-equiv="refresh" content="0;url=http://192.0.2.1/">`,
  `<base href="http://192.0.2.1/">`,
  `<a href="javascript:alert(1)">x</a>`,
  `javascript:alert(1)`,
  `data:text/html,<script>alert(1)</script>`,
  `&lt;b&gt;&#60;i&#62;&amp;`,
  `{{7*7}}\${7*7}<%= 7*7 %>#{7*7}`,
  `{{constructor.constructor('alert(1)')()}}`,
  `__proto__`,
  `constructor.prototype.x`,
  `'; drop table servers; --`,
  `1' or '1'='1`,
  `$(touch /tmp/x) \`id\` ; id | id && id`,
  `../../../../etc/passwd`,
  `%00%0d%0aSet-Cookie: a=b`,
  `\r\nSet-Cookie: a=b\r\n\r\n<b>`,
  `a\u0000b<b>`,
  `\ud800<b>`,
  `\u202eevil\u202c <b>`,
  `\u200b\ufeff\u2028\u2029<b>`,
  `z\u0351\u036b\u0343\u036a\u0302a\u0308l\u030ago <b>`,
  `\u{1f469}\u200d\u{1f469}\u200d\u{1f466} \u{1f3f4}\u200d\u2620\ufe0f <b>`,
  `@import url(http://192.0.2.1/x.css); } body { display: none }`,
  `${'x'.repeat(5_000)}<b>`,
  `<b>`.repeat(20_000),
];

/**
 * Markup that our pages never contain. `<i class=h…>` colors code, an empty `<i>` is a day of the status
 * page, and `<b>` marks an HTTP method.
 */
const OWN_I = / class=h[a-z]>|(?: class="[bns]")?(?: title="[^"<>]*")?><\/i>/.source;
const FOREIGN_ELEMENT = new RegExp(
  `<(?:svg|iframe|object|embed|base|style|b(?!>[A-Z]+<)|i(?!${OWN_I})|body onload|img src=x)[\\s/>]`,
  'i',
);

/** Reloads without scripts, to a path of this site. */
const OWN_RELOAD = /<noscript><meta http-equiv="refresh" content="\d+; url=\/[^"<>]*"><\/noscript>/g;
const OWN_SCRIPTS = /<script src="\/assets\/[0-9a-f]{16}\/[a-z]+\.js" defer[^<>]*><\/script>/g;

/** Returns a description of the injected markup, or null. */
export function findInjection(whole: string, typed: string): string | null {
  const page = whole.replace(OWN_SCRIPTS, '').replace(OWN_RELOAD, '');
  if (/<script/i.test(page)) return 'a foreign script';
  if (FOREIGN_ELEMENT.test(page)) return `a foreign element: ${FOREIGN_ELEMENT.exec(page)?.[0]}`;
  for (const [tag = ''] of page.matchAll(/<[a-z][^>]*>/gi)) {
    const names = tag.replace(/"[^"]*"/g, '');
    if (/\s(?:on\w+|style|srcdoc|autofocus)\b|['`]/i.test(names)) return `a foreign attribute: ${tag}`;
    if (/\s(?:href|src|action|formaction)="(?!\/|#|\?|https:\/\/|mailto:)/i.test(tag))
      return `a foreign URL: ${tag}`;
    if (/http-equiv/i.test(names)) return `a foreign meta element: ${tag}`;
  }
  return /[<>"'`]/.test(typed) && page.includes(typed) ? 'the submitted text, unescaped' : null;
}

/** Returns the text as a page shows it. */
function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Returns the text as a form submits it: a form cannot carry lone surrogates. */
export function asSubmitted(text: string): string {
  return text.toWellFormed();
}

/** Whether a page shows the stored text. Names are normalized; tags are split at commas and line breaks. */
export function isShown(page: string, typed: string): boolean {
  const parts = asSubmitted(typed).split(/[,\r\n]/);
  return parts.every((part) => {
    const text = escaped(part.trim());
    return page.includes(text) || page.includes(text.normalize('NFC'));
  });
}
