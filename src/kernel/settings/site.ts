/** Settings of the host's own marks and pages: colors, links, and URLs. No message repeats the input. */
import { isPrintable } from '../printable.ts';

const LINKS_MAX = 8;
const LINK_NAME_MAX_CHARS = 40;
const FOOTER_TEXT_MAX_CHARS = 200;
const LINKS_FORMAT =
  `must be at most ${LINKS_MAX} name=https://… pairs, separated by commas; ` +
  `a name has 1 to ${LINK_NAME_MAX_CHARS} printable characters, and a comma in a URL is %2C`;

export type FooterLink = readonly [name: string, url: string];

/** Parses `Blog=https://blog.example,Imprint=https://…`; may be empty. Throws a RangeError. */
export function parseFooterLinks(text: string): readonly FooterLink[] {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  if (parts.length > LINKS_MAX) throw new RangeError(LINKS_FORMAT);
  return parts.map((part) => {
    const at = part.indexOf('=');
    const [name, url] = [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()];
    const isName = name !== '' && name.length <= LINK_NAME_MAX_CHARS && isPrintable(name);
    if (!isName || !isLinkUrl(url)) throw new RangeError(LINKS_FORMAT);
    return [name, url] as const;
  });
}

/** Returns the rule that the URL of a page violates, or undefined. */
export function pageUrlProblem(text: string): string | undefined {
  return isLinkUrl(text) ? undefined : 'must be the https:// URL of a page';
}

/** Returns the rule that a color violates, or undefined. */
export function colorProblem(text: string): string | undefined {
  return /^#[0-9a-f]{6}$/i.test(text)
    ? undefined
    : 'must be # and six hexadecimal digits, such as #0a5a67; in a shell and in .env, put it in quotes';
}

/** Returns the rule that the text of the footer violates, or undefined. */
export function footerTextProblem(text: string): string | undefined {
  return text.length <= FOOTER_TEXT_MAX_CHARS && isPrintable(text)
    ? undefined
    : `must be one line of at most ${FOOTER_TEXT_MAX_CHARS} printable characters`;
}

function isLinkUrl(text: string): boolean {
  const url = /^https:\/\/[^\s"'<>]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.username === '' && url.password === '';
}
