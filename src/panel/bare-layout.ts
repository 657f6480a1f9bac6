import { PANEL_PATHS } from '../spec/paths.ts';
import { Html, html } from './html.ts';

/** The only style there is; the content policy allows this text and no other. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fbfaf7; --soft: #5b6675; --line: #d9d5cc; --sea: #0b5f6b }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --paper: #14181d; --soft: #9aa5b1; --line: #333b45; --sea: #6cc5d2 }
}
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 44rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, sans-serif }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: baseline; padding-bottom: 1rem;
  border-bottom: 1px solid var(--line) }
header strong { font-size: 1.15rem }
a { color: var(--sea) }
h1 { font-size: 1.6rem; line-height: 1.25 }
h2 { font-size: 1.1rem; margin-top: 2rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .85rem }
th, td { padding: .25rem 1.5rem .25rem 0; text-align: left; vertical-align: top }
th { font-weight: 600 }
footer, .soft { color: var(--soft) }
`;

const LINKS = [
  [PANEL_PATHS.servers, 'Servers'],
  [PANEL_PATHS.topup, 'Top up'],
  [PANEL_PATHS.billing, 'Billing'],
  [PANEL_PATHS.account, 'Account'],
  [PANEL_PATHS.signIn, 'Sign in'],
] as const;

/** A whole page: no scripts, no pictures, nothing from elsewhere. */
export function page(title: string, body: Html): string {
  const links = LINKS.map(([path, name]) => html`<a href="${path}">${name}</a>`);
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Skerry</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><strong><a href="${PANEL_PATHS.home}">Skerry</a></strong><nav>${links.map((link) => html`${link} `)}</nav></header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return whole.text;
}
