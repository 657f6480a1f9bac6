/** The navigation of a signed-in customer: a sidebar, or one line with a menu on phones. Needs no scripts. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';

/** The section a page belongs to. The navigation marks its link, and the style sheet draws its icon. */
export type Section = keyof typeof SECTION_NAMES;

const SECTION_NAMES = {
  servers: 'Servers',
  volumes: 'Volumes',
  snapshots: 'Snapshots',
  images: 'Images',
  firewall: 'Firewall',
  keys: 'SSH keys',
  webhooks: 'Webhooks',
  alerts: 'Alerts',
  billing: 'Billing',
  account: 'Account',
  support: 'Support',
  plans: 'Plans',
  docs: 'Docs',
  search: 'Search',
  status: 'Status',
} as const;

const GROUPS: readonly (readonly [title: string, sections: readonly Section[]])[] = [
  ['Compute', ['servers', 'volumes', 'snapshots', 'images']],
  ['Network', ['firewall']],
  ['Manage', ['keys', 'webhooks', 'alerts', 'billing', 'account']],
  ['Help', ['support', 'search', 'plans', 'docs', 'status']],
];

/** An empty <details> shows or hides the list after it: older browsers cannot style closed content. */
export function navigation(section: Section | undefined, email: string, forms: FormContext): Html {
  const link = (key: Section): Html => {
    const current = key === section ? new Html(' aria-current="page"') : null;
    const name = SECTION_NAMES[key];
    return html`<li><a class="to-${key}" href="${PANEL_PATHS[key]}"${current}>${name}</a></li>\n`;
  };
  const groups = GROUPS.map(([title, keys]) => html`<p>${title}</p>\n<ul>${keys.map(link)}</ul>\n`);
  const here = section ? html`<span class="unseen">Menu: </span>${SECTION_NAMES[section]}` : 'Menu';
  return html`<nav class="sections" aria-label="Sections">
<details class="menu"><summary>${here}</summary></details>
<div class="menu-list">
${groups}<div class="who"><p title="${email}">${email}</p>
${form(
  forms,
  { name: 'sign_out', action: PANEL_PATHS.signOut, class: 'inline' },
  html`<button class="quiet">Sign out</button>`,
)}</div></div></nav>`;
}
