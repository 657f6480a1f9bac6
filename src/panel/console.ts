/** The page of a server's screen. What it does is in a script of its own (src/http/console/page.js). */
import { CONSOLE_PATHS } from '../spec/paths.ts';
import { Html, html } from './html.ts';

/** The only style of the page, beside what its viewer sets on its own elements. The panel's colours, always its dark ones. */
export const CONSOLE_STYLE = `
:root { color-scheme: dark; --paper: #11161b; --sheet: #182027; --ink: #e9e6df; --soft: #a3adb8; --line: #34404b; --sea: #77cbd8; --busy: #ecc05c }
* { box-sizing: border-box }
[hidden] { display: none !important }
html, body { height: 100% }
body { margin: 0; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px; border-radius: 2px }
header { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; padding: .5rem 1.25rem;
  border-bottom: 1px solid var(--line) }
a { color: var(--sea); text-underline-offset: .15em }
header [role=status] { flex: 1 }
header [role=status] { color: var(--soft) }
button { font: inherit; padding: .15rem .75rem; color: inherit; background: transparent; border: 1px solid var(--soft);
  border-radius: .3rem; cursor: pointer }
button:hover { background: var(--sheet) }
#badge { padding: 0 .6rem; border: 1px solid var(--busy); border-radius: 1rem; color: var(--busy) }
main { flex: 1; min-height: 0; position: relative }
#screen { position: absolute; inset: 0 }
#about, noscript { display: block; max-width: 44rem; margin: 0 auto; padding: 1.5rem 1.25rem; position: relative }
h1 { font-size: 1.4rem; line-height: 1.25 }
code { overflow-wrap: anywhere }
footer { padding: .3rem 1.25rem; font-size: .85rem; color: var(--soft) }
footer a { color: inherit }
`;

export interface ConsolePageOptions {
  /** The host's name. */
  readonly site: string;
  /** Where the page's script is, and its viewer's licence. */
  readonly script: string;
  readonly license: string;
  /** The way back: the server's page, or the list of servers. */
  readonly back: { readonly name: string; readonly path: string };
}

const OTHER_ACCESS = html`<p>Other ways to a server: sign in by SSH with one of its keys, or boot the rescue system, from the server’s
page or by <code>POST /v1/servers/{id}/rescue</code>; its password is shown once.</p>`;

export function consolePage({ site, script, license, back }: ConsolePageOptions): string {
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Console · ${site}</title>
<style>${new Html(CONSOLE_STYLE)}</style>
<script type="module" src="${script}"></script>
</head>
<body data-sockets="${CONSOLE_PATHS.sockets}">
<header>
<a href="${back.path}">${back.name}</a>
<span id="state" role="status"></span>
<span id="badge" hidden>view only</span>
<button id="keys" type="button" hidden>Ctrl-Alt-Del</button>
<button id="full" type="button" hidden>Full screen</button>
</header>
<main>
<div id="screen"></div>
<noscript>
<h1>The console needs scripts</h1>
<p>It draws the server’s screen as it changes, which a page without scripts cannot do. In Tor Browser, allow scripts for
this page and load it again: its link is used up only when the screen opens.</p>
${OTHER_ACCESS}
</noscript>
<section id="about" hidden>
<h1>The console is closed</h1>
<p id="why"></p>
<p>A link opens the console once, within five minutes, while the server runs. For a new one go
<a href="${back.path}">${back.name}</a>, or ask <code>GET /v1/servers/{id}/console</code> with an API token; one of scope
<code>write</code> can type.</p>
${OTHER_ACCESS}
</section>
</main>
<footer>Screen by <a href="${license}">noVNC, MPL 2.0</a></footer>
</body>
</html>
`;
  return whole.text;
}
