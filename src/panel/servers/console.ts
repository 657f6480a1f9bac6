/** The page of a server's console. Its script is src/http/console/page.js. */
import { CONSOLE_PATHS } from '../../spec/paths.ts';
import { Html, html } from '../parts/html.ts';

/** The page's only style sheet: the panel's dark colors, always. The viewer styles its own elements. */
export const CONSOLE_STYLE = `
:root { color-scheme: dark; --paper: #11161b; --sheet: #182027; --ink: #e9e6df; --soft: #a3adb8;
  --line: #34404b; --sea: #77cbd8; --busy: #ecc05c }
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
button { font: inherit; padding: .15rem .75rem; color: inherit; background: transparent;
  border: 1px solid var(--soft); border-radius: .3rem; cursor: pointer }
button:hover { background: var(--sheet) }
#badge { padding: 0 .6rem; border: 1px solid var(--busy); border-radius: 1rem; color: var(--busy) }
main { flex: 1; min-height: 0; position: relative }
#screen { position: absolute; inset: 0 }
#about, noscript { display: block; max-width: 44rem; margin: 0 auto; padding: 1.5rem 1.25rem;
  position: relative }
h1 { font-size: 1.4rem; line-height: 1.25 }
code { overflow-wrap: anywhere }
footer { padding: .3rem 1.25rem; font-size: .85rem; color: var(--soft) }
footer a { color: inherit }
`;

interface ConsolePageOptions {
  /** The host's name. */
  readonly site: string;
  /** The URLs of the page's script and of the viewer's license. */
  readonly script: string;
  readonly license: string;
  /** The link back: the server's page, or the list of servers. */
  readonly back: { readonly name: string; readonly path: string };
}

const OTHER_ACCESS = html`<p>Other ways to access a server: connect over SSH with one of its keys, or boot
the rescue system from the server’s page or the API. The rescue password is shown once.</p>`;

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
<h1>The console needs JavaScript</h1>
<p>It draws the server’s screen as it changes, which needs scripts. In Tor Browser, allow scripts for this
page and reload it. The link stays valid until the screen opens.</p>
${OTHER_ACCESS}
</noscript>
<section id="about" hidden>
<h1>The console is closed</h1>
<p id="why"></p>
<p>A console link opens once, within five minutes, while the server is running. For a new one, go
<a href="${back.path}">${back.name}</a>, or request one from the API. Typing needs a token with the
<code>write</code> scope.</p>
${OTHER_ACCESS}
</section>
</main>
<footer>Viewer: <a href="${license}">noVNC, MPL 2.0</a></footer>
</body>
</html>
`;
  return whole.text;
}
