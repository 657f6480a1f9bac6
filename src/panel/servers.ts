/** A customer's servers as plain pages: what each is, where it answers, how long it is paid for. */
import { PANEL_PATHS } from '../spec/paths.ts';
import { page } from './bare-layout.ts';
import { html } from './html.ts';

/** All texts are ready to be read. */
export interface ServerView {
  readonly path: string;
  readonly name: string;
  readonly status: string;
  readonly plan: string;
  readonly region: string;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly paidUntil: string;
  /** Why it is suspended and what to do about it; what the operator wrote about it. None when it is as usual. */
  readonly notes: readonly string[];
}

/** `closed` says why no server can be ordered now; null when one can. */
export function serverListPage(servers: readonly ServerView[], closed: string | null): string {
  const rows = servers.map(
    (server) => html`<tr><td><a href="${server.path}">${server.name}</a></td><td>${server.status}</td>
<td>${server.region}</td><td>${server.ipv4 ?? '—'}</td></tr>
`,
  );
  const table = html`<table><thead><tr><th>Name</th><th>Status</th><th>Region</th><th>IPv4</th></tr></thead>
<tbody>${rows}</tbody></table>`;
  return page(
    'Servers',
    html`${servers.length > 0 ? table : html`<p>You have no servers yet.</p>`}
${closed ? html`<p>No new servers now. ${closed}</p>` : html`<p class="soft">POST /deploy-api.php orders one.</p>`}
`,
  );
}

export function serverPage(server: ServerView): string {
  const facts: [string, string][] = [
    ['Status', server.status],
    ['Plan', server.plan],
    ['Region', server.region],
    ['IPv4', server.ipv4 ?? 'shown when it runs'],
    ['IPv6', server.ipv6 ?? 'shown when it runs'],
    ['Paid until', `${server.paidUntil} UTC`],
  ];
  const rows = facts.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>
`,
  );
  const installing = ['provisioning', 'installing'].includes(server.status);
  return page(
    server.name,
    html`${server.notes.map((note) => html`<p>${note}</p>\n`)}<table><tbody>${rows}</tbody></table>
${installing && html`<p class="soft">An install takes a minute or two. Load this page again to see how far it is.</p>`}
`,
  );
}

/** For whoever is not signed in. */
export function signInFirstPage(title: string): string {
  return page(
    title,
    html`<p>This page is for the account it belongs to. <a href="${PANEL_PATHS.signIn}">Sign in</a> first.</p>`,
  );
}
