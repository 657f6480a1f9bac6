/** The frame around every page: title, account, banners, and navigation. */
import { LIVE_PATH, PANEL_PATHS } from '../../spec/paths.ts';
import { announcements, type FrameAnnouncements } from './announcements.ts';
import { type Brand, brandLink, contactLink, footer } from './brand.ts';
import type { FormContext } from './form.ts';
import { Html, type HtmlValue, html } from './html.ts';
import { part } from './live.ts';
import { navigation, type Section } from './navigation.ts';
import { searchForm } from './search-form.ts';

/** A page's own content. The frame adds the rest. */
export interface View {
  readonly title: string;
  readonly section?: Section;
  /** The parent pages: `[['Servers', '/servers']]`. */
  readonly breadcrumbs?: readonly (readonly [name: string, path: string])[];
  /** The last breadcrumb, if it is not the title. */
  readonly pageName?: string;
  /** Joins the title at the top of the page. */
  readonly header?: PageHeader;
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
  /** The path of an Atom feed about the same. */
  readonly feed?: string;
  /** Seconds after which values have changed that no event announces. Scripts update the page that often. */
  readonly valuesEveryS?: number;
  /** The scripts for some of its elements, which do without them. */
  readonly scripts?: readonly PageScript[];
}

/** `passkeys` shows buttons, `charts` adds a crosshair to pictures, and `upload` shows progress. */
export type PageScript = 'passkeys' | 'charts' | 'upload';

/** The top of a resource's page: its state at a glance, and the main action. */
interface PageHeader {
  /** The heading, if it is not the title. */
  readonly heading?: string;
  readonly status?: Html;
  /** Short facts on one line. Null ones are left out. */
  readonly facts?: readonly HtmlValue[];
  /** Button links, or forms with a button. */
  readonly actions?: Html;
}

/** Everything the frame needs to render a page. */
export interface Frame {
  readonly brand: Brand;
  readonly sandbox: boolean;
  /** The signed-in account, or null. */
  readonly account: {
    readonly email: string;
    readonly balance: string;
    readonly frozen: boolean;
    /** Whether keyboard shortcuts of one character are on. */
    readonly shortcuts: boolean;
  } | null;
  /** Current announcements, without those that the visitor dismissed. */
  readonly announcements: FrameAnnouncements;
  /** Why changes are refused right now, or null. */
  readonly closed: string | null;
  /** The confirmation of the last action, or null. */
  readonly notice: string | null;
  readonly forms: FormContext;
  readonly assets: Readonly<Record<'style' | 'script' | 'live' | PageScript, string>>;
  /** For scripts that update the page in place, or null. */
  readonly live: {
    /** The page itself, without its notice. */
    readonly url: string;
    /** The number of the latest event that the page shows. */
    readonly seq: string;
    readonly about: readonly string[];
    readonly valuesEveryS: number | undefined;
  } | null;
  /** The page's URL without automatic reloads; null if it does not reload. */
  readonly autoRefresh: {
    readonly path: string;
    readonly intervalS: number;
    /** The URL to reload: this page without its notice. */
    readonly reloadPath: string;
  } | null;
}

/**
 * Renders a whole page. Browsers that know `expect` paint it when they have all of it: a part that arrives
 * later would move the others.
 */
export function renderDocument(view: View, frame: Frame): string {
  const { account, assets } = frame;
  const content = html`${breadcrumbTrail(view)}
${banners(frame)}
${pageHeader(view)}
${view.body}`;
  const withoutShortcuts = account?.shortcuts === false && new Html(' data-shortcuts="off"');
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · ${frame.brand.name}</title>
<link rel="expect" href="#end" blocking="render">
<link rel="stylesheet" href="${assets.style}">${
    view.feed && html`\n<link rel="alternate" type="application/atom+xml" href="${view.feed}">`
  }${refreshTag(frame)}${liveScript(frame)}
<script src="${assets.script}" defer></script>${view.scripts?.map(
    (name) => html`\n<script src="${assets[name]}" defer></script>`,
  )}
</head>
<body${account && new Html(' class="inside"')}${withoutShortcuts}>
<a class="skip" href="#content">Skip to content</a>
${masthead(frame)}
${account && navigation(view.section, account.email, frame.forms)}
${
  view.arrange
    ? html`<main>${view.arrange(content)}</main>`
    : html`<main id="content" tabindex="-1">
${content}
${updatesNote(frame)}
</main>`
}
${footer(frame.brand)}
<span id="end" hidden></span>
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
  const values = live.valuesEveryS && html` data-values-every="${live.valuesEveryS}"`;
  return html`\n<script src="${assets.live}" defer data-stream="${LIVE_PATH}"
data-url="${live.url}" data-seq="${live.seq}"
data-about="${live.about.join(' ')}"${every}${values}></script>`;
}

function masthead({ account, brand, sandbox, forms }: Frame): Html {
  const here = account
    ? html`${searchForm(forms)}
<a class="balance" data-part="balance" href="${PANEL_PATHS.billing}"><span class="label">Balance</span>
${account.balance}</a>`
    : html`<nav aria-label="About" class="about">
<a class="button" href="${PANEL_PATHS.signUp}">Sign up</a>
<details class="menu"><summary>Menu</summary></details>
<div class="menu-list"><a href="${PANEL_PATHS.plans}">Plans</a> <a href="${PANEL_PATHS.docs}">Docs</a>
<a href="${PANEL_PATHS.status}">Status</a> <a href="${PANEL_PATHS.signIn}">Sign in</a></div></nav>`;
  return html`<header class="masthead">
${brandLink(brand)}
${sandbox && html`<span class="badge" title="Coins and servers are simulated">sandbox</span>`}
<div class="here">${here}</div>
</header>`;
}

function breadcrumbTrail({ breadcrumbs, title, pageName = title }: View): Html | null {
  if (!breadcrumbs || breadcrumbs.length === 0) return null;
  const links = breadcrumbs.map(([name, path]) => html`<li><a href="${path}">${name}</a></li>\n`);
  return html`<nav class="trail" aria-label="Breadcrumbs"><ol>
${links}<li aria-current="page">${pageName}</li></ol></nav>`;
}

function pageHeader({ title, header = {} }: View): Html {
  const { heading = title, status, facts = [], actions } = header;
  const shown = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false);
  if (!status && !actions && shown.length === 0) return html`<h1>${heading}</h1>`;
  const list = html`<ul class="page-facts">${shown.map((fact) => html`<li>${fact}</li>\n`)}</ul>`;
  // Two parts: a form in use among the actions does not keep the status from changing.
  return html`<header class="page-head"><div data-part="head" data-announce="Status"><h1>${heading}</h1>
${status}
${shown.length > 0 && list}</div>
<div class="page-actions" data-part="head-actions">${actions}</div></header>`;
}

function banners({ account, brand, closed, notice, forms, announcements: current }: Frame): Html {
  const { failure } = forms;
  const remedy = failure?.remedy && html`<p><a href="${failure.remedy.path}">${failure.remedy.name}</a></p>`;
  return html`${announcements(current, forms)}${
    account?.frozen &&
    html`<p class="banner warn">Your account is frozen. You can view it but not change it.${
      brand.published.contact && html` ${contactLink('Contact us', true)}.`
    }</p>\n`
  }
${closed && html`<p class="banner warn">${closed}</p>\n`}
${notice && html`<p class="banner done" role="status">${notice}</p>\n`}
${failure && html`<div class="banner fault" role="alert"><p>${failure.message}</p>${remedy}</div>\n`}`;
}

/** Without a stream, only browsers without scripts reload the page. */
function updatesNote({ live, autoRefresh }: Frame): Html | null {
  const note = autoRefresh && autoRefreshNote(autoRefresh);
  if (live) return part('updates', note);
  return note && html`<noscript>${note}</noscript>`;
}

function autoRefreshNote({ path }: { readonly path: string }): Html {
  return html`<p class="soft still">This page updates on its own. <a href="${path}">Stop updates</a></p>`;
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
