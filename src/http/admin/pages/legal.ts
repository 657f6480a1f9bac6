/** Documents of legal orders, and the preview of the transparency report. */
import type { LegalOrder } from '../../../domain/staff/legal/read.ts';
import type { TransparencyReport } from '../../../domain/staff/legal/report.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { attachDocumentView, reportPreview } from '../../../panel/staff/legal.ts';
import { LEGAL_LIMITS, type LegalFileType } from '../../../spec/staff/legal.ts';
import { field } from '../../form.ts';
import type { ConsoleFile, ConsolePage } from '../page.ts';

const ORDERS = CONSOLE_PATHS.legalOrders;

export const LEGAL_PAGES: readonly ConsolePage[] = [
  {
    path: `${ORDERS}/{id}/attach`,
    access: 'staff',
    acceptsUpload: true,
    render: async ({ read, params, forms }) =>
      attachDocumentView({ order: await read<LegalOrder>('legal_orders.get', params), forms }),
    forms: {
      'legal_orders.attach': {
        operation: 'legal_orders.attach',
        fileMaxBytes: LEGAL_LIMITS.documentMaxBytes,
        body: (form, file) => ({
          name: field(form, 'name').trim(),
          content_base64: file?.toString('base64') ?? '',
        }),
        done: (_answer, { id = '' }) => ({ to: `${ORDERS}/${encodeURIComponent(id)}`, notice: 'saved' }),
      },
    },
  },
  {
    path: CONSOLE_PATHS.transparency,
    access: 'staff',
    render: async ({ read }) => reportPreview(await read<TransparencyReport>('transparency.get')),
  },
];

/** Always downloads: strangers wrote them. */
export const LEGAL_FILES: readonly ConsoleFile[] = [
  {
    path: `${ORDERS}/{id}/documents/{document}`,
    read: async ({ read, params }) => {
      const answer = await read<{ name: string; type: LegalFileType; content_base64: string }>(
        'legal_orders.get_document',
        params,
      );
      const { name, type, content_base64: content } = answer;
      return {
        type: type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
        content: Buffer.from(content, 'base64'),
        name,
      };
    },
  },
];
