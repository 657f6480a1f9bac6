/** All components on one page: for people who work on the panel, and for tests that look at every page. */
import { PANEL_PATHS, STYLEGUIDE_PATH } from '../../spec/paths.ts';
import { progressBar } from '../parts/activity.ts';
import {
  buttonLink,
  copyable,
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
  tabs,
} from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

const COLORS = ['paper', 'sheet', 'faint', 'line', 'edge', 'soft', 'ink', 'sea', 'sea-faint'] as const;
const STATE_COLORS = ['good', 'good-faint', 'busy', 'warn-faint', 'bad', 'bad-faint'] as const;
const SPACES = ['4', '8', '12', '16', '24', '32', '48'] as const;

export function styleguideView(forms: FormContext): View {
  return {
    title: 'Style guide',
    breadcrumbs: [['Home', PANEL_PATHS.home]],
    header: {
      status: statusBadge('running', 'good'),
      facts: [
        'A fact',
        html`<a href="${PANEL_PATHS.plans}">A linked fact</a>`,
        html`<code>198.18.0.2</code>`,
      ],
      actions: html`${buttonLink('Second action', '#buttons', 'plain')}${sectionLink('Empty states')}`,
    },
    body: html`${tabs('Example', TABS, STYLEGUIDE_PATH)}
${section('Tokens', TOKENS)}
${section('Text', TEXT)}
${section('Buttons', BUTTONS)}
${section('Badges', BADGES)}
${section('Notices', NOTICES)}
${section('Table', html`${TABLE}${pager({ first: STYLEGUIDE_PATH, next: STYLEGUIDE_PATH })}`)}
<div class="columns"><div>${section('Details', DETAILS)}</div>
<div>${section('Progress', PROGRESS)}</div></div>
${section('Form', formExample(forms))}
${section('Empty states', EMPTY)}`,
  };
}

const TABS = [
  ['Current page', STYLEGUIDE_PATH],
  ['Another page', PANEL_PATHS.home],
] as const;

const swatches = (names: readonly string[]): Html =>
  html`<ul class="swatches">${names.map(
    (name) => html`<li><span class="swatch color-${name}"></span> <code>--${name}</code></li>\n`,
  )}</ul>`;

const TOKENS = html`<h3>Colors</h3>
${swatches(COLORS)}
<h3>States</h3>
${swatches(STATE_COLORS)}
<h3>Space</h3>
<ul class="swatches">${SPACES.map(
  (px, index) =>
    html`<li><span class="space space-${index + 1}"></span> <code>--s${index + 1}</code> ${px} px</li>\n`,
)}</ul>
<h3>Elevation</h3>
<ul class="swatches"><li><span class="swatch lift"></span> <code>--lift</code></li>
<li><span class="swatch lift-high"></span> <code>--lift-high</code></li></ul>`;

const TEXT = html`<p class="title-text">Page title</p>
<p class="large-text">Large text and headings of sections</p>
<p>Body text with <a href="${PANEL_PATHS.docs}">a link</a>, <code>code</code>, and
<strong>strong</strong> words.</p>
<p class="hint">Small text: hints, badges, and the names of columns.</p>
<pre tabindex="0"><code>ssh root@198.18.0.2</code></pre>`;

const BUTTONS = html`<p class="row"><button type="button">Main</button>
<button type="button" class="plain">Plain</button> <button type="button" class="danger">Danger</button>
<button type="button" class="quiet">Quiet</button> <button type="button" disabled>Unavailable</button>
${buttonLink('Link', '#buttons')}</p>`;

const BADGES = html`<p class="row">${statusBadge('running', 'good')} ${statusBadge('installing', 'busy')}
${statusBadge('stopped')} ${statusBadge('suspended', 'bad')}</p>`;

const NOTICES = html`<p class="banner">A note.</p>
<p class="banner done">Saved.</p>
<p class="banner warn">Your balance is low.</p>
<div class="banner fault"><p>The volume is attached to a server. Detach it first.</p>
<p><a href="${PANEL_PATHS.volumes}">Your volumes</a></p></div>`;

const TABLE = table({
  caption: 'Example of a table',
  columns: ['Name', 'Status', 'IPv4', 'Created', { name: 'Price', class: 'number' }],
  rows: [
    ['web-1', statusBadge('running', 'good'), html`<code>198.18.0.2</code>`, day('2026-11-22'), '$14.70'],
    ['db-1', statusBadge('stopped'), '–', day('2026-11-23'), '$7.35'],
  ],
});

const DETAILS = detailList([
  ['Address', copyable('198.18.0.2')],
  ['Region', 'Paris'],
]);

const PROGRESS = html`<p>${progressBar({ command: 'server.create', progress: 40 })}</p>`;

function formExample(forms: FormContext): Html {
  const fields = new Fields(forms, 'example');
  return html`<form method="get" action="${STYLEGUIDE_PATH}">
${fields.text('name', 'Name', { hint: 'Lowercase letters, digits, and dashes.' })}
${fields.select('region', 'Region', { choices: [['par', 'Paris'] as const, ['zrh', 'Zurich'] as const] })}
${fields.textarea('labels', 'Labels', { rows: 3, hint: 'One per line: name=value.' })}
${fields.checkbox('renew', 'Renew automatically')}
<fieldset><legend>Plan</legend><div class="choices">
<label class="choice"><input type="radio" name="plan" value="s1" checked> <span>s1</span></label>
<label class="choice"><input type="radio" name="plan" value="s2"> <span>s2</span></label></div></fieldset>
<details><summary>More settings</summary><p>Rarely used settings are collapsed.</p></details>
<button>Save changes</button></form>`;
}

const EMPTY = emptyState(
  'No volumes yet.',
  'A volume is a separate disk that you attach to a server.',
  buttonLink('Create volume', PANEL_PATHS.volumes),
);
