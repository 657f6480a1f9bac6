/** Documents of legal orders, and the preview of the transparency report. */
import type { LegalOrder } from '../../../domain/staff/legal/read.ts';
import type { TransparencyReport } from '../../../domain/staff/legal/report.ts';
import { reportPreview } from '../../../panel/site/transparency.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { LEGAL_FILE_TYPES, LEGAL_LIMITS } from '../../../spec/staff/legal.ts';
import { attachPage, readDownload } from '../files.ts';
import type { ConsoleFile, ConsolePage } from '../page.ts';

export const LEGAL_PAGES: readonly ConsolePage[] = [
  attachPage({
    section: 'legalOrders',
    path: CONSOLE_PATHS.legalOrders,
    many: 'Legal orders',
    noun: 'document',
    get: 'legal_orders.get',
    nameOf: ({ reference }: LegalOrder) => reference,
    operation: 'legal_orders.attach',
    types: LEGAL_FILE_TYPES,
    typeNames: 'A PDF, a PNG or JPEG image, or a plain text file',
    example: 'order.pdf',
    maxBytes: LEGAL_LIMITS.documentMaxBytes,
    nameMaxChars: LEGAL_LIMITS.documentNameMaxChars,
  }),
  {
    path: CONSOLE_PATHS.transparency,
    access: 'staff',
    render: async ({ read }) => reportPreview(await read<TransparencyReport>('transparency.get')),
  },
];

export const LEGAL_FILES: readonly ConsoleFile[] = [
  {
    path: `${CONSOLE_PATHS.legalOrders}/{id}/documents/{document}`,
    read: (context) => readDownload(context, 'legal_orders.get_document'),
  },
];
