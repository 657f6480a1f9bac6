/** The frame around every page: title, account, banners, and navigation. */
import { LIVE_PATH, PANEL_PATHS } from '../../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import { part } from './live.ts';

/** The section a page belongs to. The navigation marks its link. */
export type Section = keyof typeof SECTIONS;

/** A page's own content. The frame adds the rest. */
export interface View {
  readonly title: string;
  readonly section?: Section;
  /** The parent pages: `[['Servers', '/servers']]`. */
  readonly breadcrumbs?: readonly (readonly [name: string, path: string])[];
  readonly body: Html;
  /** Places the content, heading included, next to its own navigation. Provides the element `#content`. */
  readonly arrange?: (content: Html) => Html;
  /** HTTP status. Default: 200. */
  readonly status?: number;
  /** Seconds between automatic reloads, until the visitor turns them off. */
  readonly refreshS?: number;
  /**
   * Beginnings of the ids and event types after which scripts update the page's parts. Undefined: it does not
   * change on its own.
   */
  readonly live?: readonly string[];
  /** Whether it has elements for passkeys, which a script shows. */
  readonly usesPasskeys?: boolean;
}

/** Everything the frame needs to render a page. */
export interface Frame {
  /** The host's name. */
  readonly site: string;
  readonly sandbox: boolean;
  /** The signed-in account, or null. */
  readonly account: { readonly email: string; readonly balance: string; readonly frozen: boolean } | null;
  /** Why changes are refused right now, or null. */
  readonly closed: string | null;
  /** The confirmation of the last action, or null. */
  readonly notice: string | null;
  readonly forms: FormContext;
  readonly assets: Readonly<Record<'style' | 'script' | 'live' | 'passkeys', string>>;
  /** For scripts that update the page in place, or null. */
  readonly live: {
    /** The page itself, without its notice. */
    readonly url: string;
    /** The number of the latest event that the page shows. */
    readonly seq: string;
    readonly about: readonly string[];
  } | null;
  /** The page's URL without automatic reloads; null if it does not reload. */
  readonly autoRefresh: {
    readonly path: string;
    readonly intervalS: number;
    /** The URL to reload: this page without its notice. */
    readonly reloadPath: string;
  } | null;
}

const SECTIONS = {
  servers: { path: PANEL_PATHS.servers, name: 'Servers', signedIn: true },
  volumes: { path: PANEL_PATHS.volumes, name: 'Volumes', signedIn: true },
  snapshots: { path: PANEL_PATHS.snapshots, name: 'Snapshots', signedIn: true },
  firewall: { path: PANEL_PATHS.firewall, name: 'Firewall', signedIn: true },
  keys: { path: PANEL_PATHS.keys, name: 'SSH keys', signedIn: true },
  images: { path: PANEL_PATHS.images, name: 'Images', signedIn: true },
  webhooks: { path: PANEL_PATHS.webhooks, name: 'Webhooks', signedIn: true },
  alerts: { path: PANEL_PATHS.alerts, name: 'Alerts', signedIn: true },
  billing: { path: PANEL_PATHS.billing, name: 'Billing', signedIn: true },
  account: { path: PANEL_PATHS.account, name: 'Account', signedIn: true },
  plans: { path: PANEL_PATHS.plans, name: 'Plans', signedIn: false },
  docs: { path: PANEL_PATHS.docs, name: 'Docs', signedIn: false },
  status: { path: PANEL_PATHS.status, name: 'Status', signedIn: false },
} as const;

/** Renders a whole page. */
export function renderDocument(view: View, frame: Frame): string {
  const { account, assets } = frame;
  const content = html`${breadcrumbTrail(view)}
${banners(frame)}
<h1>${view.title}</h1>
${view.body}`;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · ${frame.site}</title>
<link rel="stylesheet" href="${assets.style}">${refreshTag(frame)}${liveScript(frame)}
<script src="${assets.script}" defer></script>${
    view.usesPasskeys && html`\n<script src="${assets.passkeys}" defer></script>`
  }
</head>
<body${account && new Html(' class="inside"')}>
<a class="skip" href="#content">Skip to content</a>
${masthead(frame)}
${account && sectionLinks(view)}
${
  view.arrange
    ? html`<main>${view.arrange(content)}</main>`
    : html`<main id="content" tabindex="-1">
${content}
${frame.live && part('updates', frame.autoRefresh && autoRefreshNote(frame.autoRefresh))}
</main>`
}
${footer(frame)}
</body>
</html>
`;
  return document.text;
}

/** Only without scripts: they update the page in place, and could not cancel a reload. */
function refreshTag({ autoRefresh }: Frame): Html | null {
  if (autoRefresh === null) return null;
  const content = `${autoRefresh.intervalS}; url=${autoRefresh.reloadPath}`;
  return html`\n<noscript><meta http-equiv="refresh" content="${content}"></noscript>`;
}

/** Runs first, to see the page before the other scripts add to it. */
function liveScript({ live, autoRefresh, assets }: Frame): Html | null {
  if (live === null) return null;
  const every = autoRefresh && html` data-every="${autoRefresh.intervalS}"`;
  return html`\n<script src="${assets.live}" defer data-stream="${LIVE_PATH}"
data-url="${live.url}" data-seq="${live.seq}" data-about="${live.about.join(' ')}"${every}></script>`;
}

function masthead(frame: Frame): Html {
  const { account, site } = frame;
  const here = account
    ? html`<a class="balance" data-part="balance" href="${PANEL_PATHS.billing}"><span
class="label">Balance</span>
${account.balance}</a>
<span class="who">${account.email}</span>
${form(
  frame.forms,
  { name: 'sign_out', action: PANEL_PATHS.signOut, class: 'inline' },
  html`<button class="quiet">Sign out</button>`,
)}`
    : html`<nav aria-label="About" class="about">
<a href="${PANEL_PATHS.plans}">Plans</a> <a href="${PANEL_PATHS.docs}">Docs</a>
<a href="${PANEL_PATHS.status}">Status</a> <a href="${PANEL_PATHS.signIn}">Sign in</a>
<a class="button" href="${PANEL_PATHS.signUp}">Sign up</a></nav>`;
  return html`<header class="masthead">
<a class="brand" href="${PANEL_PATHS.home}">${site}</a>
${frame.sandbox && html`<span class="badge" title="Coins and servers are simulated">sandbox</span>`}
<div class="here">${here}</div>
</header>`;
}

function sectionLinks({ section }: View): Html {
  const rows = Object.entries(SECTIONS).map(([key, { path, name, signedIn: inside }]) => {
    const current = key === section ? new Html(' aria-current="page"') : null;
    return { inside, link: html`<li><a href="${path}"${current}>${name}</a></li>\n` };
  });
  const linksFor = (inside: boolean) => rows.filter((row) => row.inside === inside).map((row) => row.link);
  return html`<nav class="sections" aria-label="Sections"><ul>
${linksFor(true)}</ul><ul>
${linksFor(false)}</ul></nav>`;
}

function breadcrumbTrail({ breadcrumbs }: View): Html | null {
  if (!breadcrumbs || breadcrumbs.length === 0) return null;
  const links = breadcrumbs.map(
    ([name, path]) => html`<a href="${path}">${name}</a> <span aria-hidden="true">/</span> `,
  );
  return html`<nav class="trail" aria-label="Breadcrumbs">${links}</nav>`;
}

function banners({ account, closed, notice, forms }: Frame): Html {
  const { failure } = forms;
  const remedy = failure?.remedy && html`<p><a href="${failure.remedy.path}">${failure.remedy.name}</a></p>`;
  return html`${
    account?.frozen &&
    html`<p class="banner warn">Your account is frozen. You can view it but not change it. <a
href="${PANEL_PATHS.contact}">Contact us</a>.</p>\n`
  }
${closed && html`<p class="banner warn">${closed}</p>\n`}
${notice && html`<p class="banner done" role="status">${notice}</p>\n`}
${failure && html`<div class="banner fault" role="alert"><p>${failure.message}</p>${remedy}</div>\n`}`;
}

function autoRefreshNote({ path }: { readonly path: string }): Html {
  return html`<p class="soft still">This page updates on its own. <a href="${path}">Stop updates</a></p>`;
}

function footer({ site }: Frame): Html {
  return html`<footer class="colophon"><p>${site}</p>
<ul><li><a href="${PANEL_PATHS.plans}">Plans</a></li><li><a href="${PANEL_PATHS.docs}">Docs</a></li>
<li><a href="${PANEL_PATHS.status}">Status</a></li><li><a href="${PANEL_PATHS.terms}">Terms</a></li>
<li><a href="${PANEL_PATHS.contact}">Contact</a></li></ul></footer>`;
}

/** A page that does not exist. Someone else's resource looks the same as a missing one. */
export function notFoundView(): View {
  return {
    title: 'Page not found',
    status: 404,
    body: html`<p>It may have been deleted, or you may not have access.</p>
<p><a href="${PANEL_PATHS.servers}">Your servers</a> · <a href="${PANEL_PATHS.home}">Home</a></p>`,
  };
}

/** A page that could not be shown because of an error. */
export function errorView(message: string, requestId: string): View {
  return {
    title: 'Something went wrong',
    body: html`<p>${message}</p>
<p class="soft">If you contact support, include this request ID: <code>${requestId}</code></p>`,
  };
}
