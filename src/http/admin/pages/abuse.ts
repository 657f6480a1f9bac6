/** Files of abuse reports: the form that attaches one, and their downloads. */
import type { AbuseReport } from '../../../domain/staff/abuse/read.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { ABUSE_FILE_TYPES, ABUSE_KIND_NAMES, ABUSE_LIMITS } from '../../../spec/staff/abuse.ts';
import { attachPage, readDownload } from '../files.ts';
import type { ConsoleFile, ConsolePage } from '../page.ts';

/** Browsers know captures and mails by their endings. */
const ENDINGS = ['.pcap', '.pcapng', '.eml', '.log'];

export const ABUSE_PAGES: readonly ConsolePage[] = [
  attachPage({
    section: 'abuse',
    path: CONSOLE_PATHS.abuse,
    many: 'Abuse reports',
    noun: 'file',
    get: 'abuse_reports.get',
    nameOf: ({ kind }: AbuseReport) => ABUSE_KIND_NAMES[kind],
    operation: 'abuse_reports.attach',
    types: [...ABUSE_FILE_TYPES, ...ENDINGS],
    typeNames: 'A packet capture, a saved mail, a plain text file, a PNG or JPEG image, or a PDF',
    example: 'scan.pcap',
    maxBytes: ABUSE_LIMITS.fileMaxBytes,
    nameMaxChars: ABUSE_LIMITS.fileNameMaxChars,
  }),
];

export const ABUSE_FILES: readonly ConsoleFile[] = [
  {
    path: `${CONSOLE_PATHS.abuse}/{id}/files/{file}`,
    read: (context) => readDownload(context, 'abuse_reports.get_file'),
  },
];
