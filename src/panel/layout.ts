/** The frame around every page: what it is called, who is here, where else one can go. */
import { PANEL_PATHS } from '../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';

/** The part of the panel that a page belongs to; its link in the navigation is marked. */
export type Section = keyof typeof SECTIONS;

/** What a page says; the frame does the rest. */
export interface View {
  readonly title: string;
  readonly section?: Section;
  /** Where this page hangs: `[['Servers', '/servers']]`. */
  readonly breadcrumbs?: readonly (readonly [name: string, path: string])[];
  readonly body: Html;
  /** HTTP status; 200 when left out. */
  readonly status?: number;
  /** The page loads itself again after so many seconds, until its reader stops that. */
  readonly refreshS?: number;
}

/** What the frame needs to know. */
export interface Frame {
  /** The host's name. */
  readonly site: string;
  readonly sandbox: boolean;
  /** Who is signed in; null: nobody. */
  readonly account: { readonly email: string; readonly balance: string; readonly frozen: boolean } | null;
  /** Why nothing can be changed now, or null. */
  readonly closed: string | null;
  /** What was just done, or null. */
  readonly notice: string | null;
  readonly forms: FormContext;
  readonly assets: { readonly style: string; readonly script: string };
  /** How to load this page without its refreshing; null while it does not. */
  readonly autoRefresh: {
    readonly path: string;
    readonly intervalS: number;
    /** What is loaded again: this page, without what was just done. */
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
  billing: { path: PANEL_PATHS.billing, name: 'Billing', signedIn: true },
  account: { path: PANEL_PATHS.account, name: 'Account', signedIn: true },
  plans: { path: PANEL_PATHS.plans, name: 'Plans', signedIn: false },
  docs: { path: PANEL_PATHS.docs, name: 'Documents', signedIn: false },
  status: { path: PANEL_PATHS.status, name: 'Status', signedIn: false },
} as const;

/** A whole page. */
export function renderDocument(view: View, frame: Frame): string {
  const { account, assets } = frame;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${view.title} · ${frame.site}</title>
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" defer></script>
</head>
<body${account && new Html(' class="inside"')}>
<a class="skip" href="#content">Skip to the content</a>
${masthead(frame)}
${account && sectionLinks(view)}
<main id="content" tabindex="-1">
${breadcrumbTrail(view)}
${banners(frame)}
<h1>${view.title}</h1>
${view.body}
${frame.autoRefresh && autoRefreshNote(frame.autoRefresh)}
</main>
${footer(frame)}
</body>
</html>
`;
  return document.text;
}

function masthead(frame: Frame): Html {
  const { account, site } = frame;
  const here = account
    ? html`<a class="balance" href="${PANEL_PATHS.billing}"><span class="label">Balance</span> ${account.balance}</a>
<span class="who">${account.email}</span>
${form(frame.forms, { name: 'sign_out', action: PANEL_PATHS.signOut, class: 'inline' }, html`<button class="quiet">Sign out</button>`)}`
    : html`<nav aria-label="About" class="about">
<a href="${PANEL_PATHS.plans}">Plans</a> <a href="${PANEL_PATHS.docs}">Documents</a> <a href="${PANEL_PATHS.status}">Status</a>
<a href="${PANEL_PATHS.signIn}">Sign in</a> <a class="button" href="${PANEL_PATHS.signUp}">Sign up</a></nav>`;
  return html`<header class="masthead">
<a class="brand" href="${PANEL_PATHS.home}">${site}</a>
${frame.sandbox && html`<span class="badge" title="Coins and machines are simulated">sandbox</span>`}
<div class="here">${here}</div>
</header>`;
}

function sectionLinks({ section }: View): Html {
  const rows = Object.entries(SECTIONS).map(([key, { path, name, signedIn: inside }]) => {
    const current = key === section ? new Html(' aria-current="page"') : null;
    return { inside, link: html`<li><a href="${path}"${current}>${name}</a></li>\n` };
  });
  const of = (inside: boolean) => rows.filter((row) => row.inside === inside).map((row) => row.link);
  return html`<nav class="sections" aria-label="Sections"><ul>
${of(true)}</ul><ul>
${of(false)}</ul></nav>`;
}

function breadcrumbTrail({ breadcrumbs }: View): Html | null {
  if (!breadcrumbs || breadcrumbs.length === 0) return null;
  const links = breadcrumbs.map(
    ([name, path]) => html`<a href="${path}">${name}</a> <span aria-hidden="true">/</span> `,
  );
  return html`<nav class="trail" aria-label="Above this page">${links}</nav>`;
}

function banners({ account, closed, notice, forms }: Frame): Html {
  const { failure } = forms;
  return html`${account?.frozen && html`<p class="banner warn">Your account is frozen: it can be read but not changed. Contact the operator.</p>\n`}
${closed && html`<p class="banner warn">${closed}</p>\n`}
${notice && html`<p class="banner done" role="status">${notice}</p>\n`}
${failure && html`<div class="banner fault" role="alert"><p>${failure.message}</p>${failure.remedy && html`<p><a href="${failure.remedy.path}">${failure.remedy.name}</a></p>`}</div>\n`}`;
}

function autoRefreshNote({ path, intervalS }: { readonly path: string; readonly intervalS: number }): Html {
  return html`<p class="soft still">This page loads again every ${intervalS} seconds. <a href="${path}">Stop that</a></p>`;
}

function footer({ site }: Frame): Html {
  return html`<footer class="colophon"><p>${site}</p>
<ul><li><a href="${PANEL_PATHS.plans}">Plans</a></li><li><a href="${PANEL_PATHS.docs}">Documents</a></li>
<li><a href="${PANEL_PATHS.status}">Status</a></li><li><a href="${PANEL_PATHS.terms}">Terms</a></li>
<li><a href="${PANEL_PATHS.contact}">Contact</a></li></ul></footer>`;
}
