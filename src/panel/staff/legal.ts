/** A document for a legal order, and the transparency report before it is published. */
import { LEGAL_FILE_TYPES, LEGAL_LIMITS } from '../../spec/staff/legal.ts';
import { buttonLink, statusBadge } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatMib } from '../parts/format.ts';
import { html } from '../parts/html.ts';
import { type Report, reportTables } from '../site/transparency.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';

export function attachDocumentView({
  order,
  forms,
}: {
  readonly order: { readonly id: string; readonly reference: string };
  readonly forms: FormContext;
}): ConsoleView {
  const fields = new Fields(forms, 'legal_orders.attach');
  const id = fields.id('file');
  const bad = fields.problem('file') !== null && ' bad';
  const most = formatMib(LEGAL_LIMITS.documentMaxBytes);
  const hint = `A PDF, a PNG or JPEG image, or a plain text file, of at most ${most}.`;
  return {
    title: 'Attach a document',
    section: 'legalOrders',
    breadcrumbs: [
      ['Legal orders', CONSOLE_PATHS.legalOrders],
      [order.reference, `${CONSOLE_PATHS.legalOrders}/${encodeURIComponent(order.id)}`],
    ],
    body: form(
      forms,
      { name: 'legal_orders.attach', multipart: true },
      html`${fields.text('name', 'Name', {
        maxLength: LEGAL_LIMITS.documentNameMaxChars,
        hint: 'Such as order.pdf. Optional.',
      })}
<div class="field${bad}"><label for="${id}">File</label>
<input type="file" id="${id}" name="file" required
accept="${LEGAL_FILE_TYPES.join(',')}"${fields.describedBy('file', hint)}>
${fields.notes('file', hint)}</div>
<button>Attach document</button>`,
    ),
  };
}

export function reportPreview(report: Report & { readonly published: boolean }): ConsoleView {
  const { published } = report;
  return {
    title: 'Transparency report',
    section: 'transparency',
    status: published ? statusBadge('published', 'good') : statusBadge('not published', 'off'),
    body: html`<p>${
      published
        ? 'Customers read this page, with a link in the footer.'
        : 'This is how customers would read it.'
    } Two switches decide whether it is published, and whether orders are counted whose gag is in force.</p>
<p class="page-actions">${buttonLink('Publish', `${CONSOLE_PATHS.switches}/transparency`, 'plain')}
${buttonLink('Orders with a gag', `${CONSOLE_PATHS.switches}/transparency-gagged`, 'plain')}</p>
${reportTables(report)}`,
  };
}
