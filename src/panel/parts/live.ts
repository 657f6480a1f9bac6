/** Parts of a page that scripts replace when they change (`panel/live.js`), and progress in steps. */
import { Html, type HtmlValue, html } from './html.ts';

/**
 * Returns a part of the page that is replaced as a whole. Every rendering of the page has it, even empty.
 * `announce` names its status, which screen readers hear when it changes. Keep forms apart from the status: a
 * part with a form that someone fills in waits.
 */
export function part(name: string, content: HtmlValue, announce?: string): Html {
  const label = announce === undefined ? null : html` data-announce="${announce}"`;
  return html`<div data-part="${name}"${label}>${content}</div>`;
}

export type StepState = 'done' | 'now' | 'next' | 'failed';

const STEP_NOTES: Readonly<Record<StepState, string>> = {
  done: 'done',
  now: 'in progress',
  next: 'not started',
  failed: 'failed',
};

/** Returns steps in order, each with a mark. The one in progress is the current step. */
export function stepList(label: string, steps: readonly (readonly [name: string, state: StepState])[]): Html {
  const items = steps.map(([name, state]) => {
    const current = state === 'now' && new Html(' aria-current="step"');
    const note = html`<span class="unseen">(${STEP_NOTES[state]})</span>`;
    return html`<li class="${state}"${current}>${name} ${note}</li>\n`;
  });
  return html`<ol class="progress" aria-label="${label}">
${items}</ol>`;
}
