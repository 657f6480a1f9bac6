/** Legal orders: their kinds and results, the operations on them, and their limits. */
import { manage, OWNER, read } from './roles.ts';

export const LEGAL_ORDER_KINDS = [
  'information_request',
  'preservation',
  'takedown',
  'seizure',
  'gag',
  'other',
] as const;
export type LegalOrderKind = (typeof LEGAL_ORDER_KINDS)[number];

/** How an order ends. */
export const LEGAL_RESULTS = ['complied', 'partly', 'refused', 'withdrawn'] as const;
export type LegalResult = (typeof LEGAL_RESULTS)[number];
export const LEGAL_STATES = ['open', ...LEGAL_RESULTS] as const;
export type LegalState = (typeof LEGAL_STATES)[number];

export const LEGAL_KIND_NAMES: Readonly<Record<LegalOrderKind, string>> = {
  information_request: 'Information request',
  preservation: 'Preservation',
  takedown: 'Takedown',
  seizure: 'Seizure',
  gag: 'Gag order',
  other: 'Other',
};

export const LEGAL_RESULT_NAMES: Readonly<Record<LegalState, string>> = {
  open: 'Open',
  complied: 'Complied',
  partly: 'Complied in part',
  refused: 'Refused',
  withdrawn: 'Withdrawn',
};

export const LEGAL_FILE_TYPES = ['application/pdf', 'image/png', 'image/jpeg', 'text/plain'] as const;
export type LegalFileType = (typeof LEGAL_FILE_TYPES)[number];

export const LEGAL_LIMITS = {
  lineMaxChars: 200,
  noteMaxChars: 4_000,
  documentsMax: 20,
  documentMaxBytes: 5 * 1024 ** 2,
  documentNameMaxChars: 100,
  /** Acts of staff that the page of an order lists. */
  actsShown: 100,
  /** From this many days before it is due, an open order needs attention. */
  dueWarningDays: 3,
  /** After its end. The reports by half-year cover no more than this. */
  retentionDays: 1_096,
} as const;

/** Half-years that the transparency report covers, the current one included. */
export const REPORTED_HALF_YEARS = 6;

/** Only an owner sees orders: a text or a document may name a suspect, or be secret itself. */
export const LEGAL_OPERATIONS = {
  'legal_orders.list': read('legal list', 'List legal orders', OWNER),
  'legal_orders.get': read('legal show', 'Show a legal order with its documents and acts', OWNER),
  'legal_orders.get_document': read('legal document', 'Download a document of a legal order', OWNER),
  'legal_orders.create': manage('legal create', 'Record a legal order', OWNER),
  'legal_orders.change': manage('legal change', 'Change the record of a legal order', OWNER),
  'legal_orders.set_subject': manage('legal subject', 'Change or remove the subject of a legal order', OWNER),
  'legal_orders.attach': manage('legal attach', 'Attach a document to a legal order', OWNER),
  'legal_orders.close': manage('legal close', 'Record the result of a legal order', OWNER),
  'transparency.get': read('legal report', 'Show the transparency report', OWNER),
} as const;

/** The sums of the transparency report for each half-year. A further row needs a count in its domain. */
export const REPORT_FIGURES = {
  accounts: 'Accounts concerned',
  servers: 'Servers concerned',
  handed_out: 'Orders for which we handed out data',
  takedowns: 'Takedown orders that we followed',
} as const;
export type ReportFigure = keyof typeof REPORT_FIGURES;
