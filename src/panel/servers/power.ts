/** Power: the console, and a menu in which everything that interrupts the server asks first. */
import { type FormContext, form } from '../parts/form.ts';
import { formatMonths, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { blockedReason, type ServerPage } from './layout.ts';

interface PowerCut {
  /** The name of its form. */
  readonly name: 'reboot' | 'stop' | 'reset';
  /** The action whose rule allows it. */
  readonly action: 'reboot' | 'stop';
  readonly title: string;
  readonly consequence: string;
}

/** Actions that interrupt a server, mildest first. */
export const POWER_CUTS: readonly PowerCut[] = [
  {
    name: 'reboot',
    action: 'reboot',
    title: 'Restart',
    consequence:
      'Asks the operating system to shut down, and powers the server on again. If it doesn’t respond, we ' +
      'cut the power.',
  },
  {
    name: 'stop',
    action: 'stop',
    title: 'Shut down',
    consequence:
      'Asks the operating system to shut down. If it doesn’t respond, we cut the power. The billing cycle ' +
      'continues while the server is off.',
  },
  {
    name: 'reset',
    action: 'reboot',
    title: 'Force restart',
    consequence:
      'Cuts the power immediately, without asking the operating system. Unsaved data is lost. Use it if a ' +
      'restart doesn’t help.',
  },
];

type PowerData = ServerPage & { readonly forms: FormContext };

/** The buttons of the page header: only the actions that are available now. */
export function powerButtons(data: PowerData): Html {
  const { forms, capabilities } = data;
  const canStart = blockedReason(data, 'start') === null;
  const cuts = availableCuts(data);
  const hasConsole = blockedReason(data, 'console') === null && capabilities.console;
  return html`${canStart && startForm(data)}${
    hasConsole && form(forms, { name: 'console' }, html`<button>Open console</button>`)
  }${cuts.length > 0 && powerMenu(cuts, forms)}`;
}

/** The price of powering on, or why no action is available. Null: there is nothing to say. */
export function powerNote(data: PowerData): Html | null {
  const { server, nextCycleUsd } = data;
  if (blockedReason(data, 'start') === null)
    return server.status === 'suspended'
      ? html`<p class="hint">Powering it on charges ${usd(nextCycleUsd)} for
${formatMonths(server.billing_months)}, starting immediately.</p>`
      : null;
  const blocked = blockedReason(data, 'reboot');
  return availableCuts(data).length === 0 && blocked ? html`<p>${blocked}</p>` : null;
}

function availableCuts(data: PowerData): readonly PowerCut[] {
  return POWER_CUTS.filter(({ action }) => blockedReason(data, action) === null);
}

function startForm({ server, forms, nextCycleUsd }: PowerData): Html {
  // Nothing above the price that this page shows is charged.
  const maxPrice =
    server.status === 'suspended' &&
    html`<input type="hidden" name="max_price_usd" value="${String(nextCycleUsd)}">`;
  return form(forms, { name: 'start' }, html`${maxPrice}<button>Power on</button>`);
}

function powerMenu(cuts: readonly PowerCut[], forms: FormContext): Html {
  const items = cuts.map(
    ({ name, title, consequence }) => html`<details><summary>${title}…</summary>
${form(
  forms,
  { name },
  html`<p>${consequence}</p>
<button${name === 'reset' && html` class="danger"`}>${title} server</button>`,
)}</details>\n`,
  );
  return html`<details class="drop"><summary class="button plain">Power</summary>
<div class="drop-items">
${items}</div></details>`;
}
