/**
 * Every value that the service key seals: where it is stored. A sealed value is bound to its table, row, and
 * column, so it does not open anywhere else in the database.
 */
export interface SealedColumn {
  /** The use that the sealing key is derived for. */
  readonly purpose: string;
  readonly table: string;
  readonly column: string;
  /** The column that identifies its row; null: the table has a single row. */
  readonly row: string | null;
  /** Kept for years: sealed again after a rotation. Most others are gone after a day. */
  readonly lasting?: true;
  /** How many are read at once; fewer if they are large. */
  readonly batch?: number;
  /** The condition of a partial index on the rows that have a value. */
  readonly where?: string;
}

export const SEALED = {
  keyCheck: { purpose: 'key check', table: 'service', column: 'key_check', row: null },
  webhookSecret: {
    purpose: 'webhook secret',
    table: 'webhooks',
    column: 'secret_sealed',
    row: 'id',
    lasting: true,
  },
  nextWebhookSecret: {
    purpose: 'next webhook secret',
    table: 'webhooks',
    column: 'next_secret_sealed',
    row: 'id',
    lasting: true,
  },
  totpSecret: {
    purpose: 'totp secret',
    table: 'totp_secrets',
    column: 'secret_sealed',
    row: 'customer_id',
    lasting: true,
  },
  staffTotp: {
    purpose: 'staff totp secret',
    table: 'staff',
    column: 'totp_sealed',
    row: 'id',
    lasting: true,
  },
  controlPlaneKey: {
    purpose: 'control plane key',
    table: 'control_plane_identities',
    column: 'key_sealed',
    row: 'id',
    lasting: true,
  },
  ipCidrs: {
    purpose: 'token networks',
    table: 'api_tokens',
    column: 'ip_cidrs_sealed',
    row: 'id',
    lasting: true,
  },
  ticketSubject: {
    purpose: 'ticket subject',
    table: 'tickets',
    column: 'subject_sealed',
    row: 'id',
    lasting: true,
  },
  ticketText: {
    purpose: 'ticket text',
    table: 'ticket_messages',
    column: 'text_sealed',
    row: 'id',
    lasting: true,
  },
  ticketFile: {
    purpose: 'ticket file',
    table: 'ticket_files',
    column: 'content_sealed',
    row: 'id',
    lasting: true,
    batch: 5,
  },
  ticketMail: {
    purpose: 'ticket mail id',
    table: 'tickets',
    column: 'mail_id_sealed',
    row: 'id',
    lasting: true,
  },
  approvalInput: {
    purpose: 'approval input',
    table: 'approval_inputs',
    column: 'input_sealed',
    row: 'request_id',
    lasting: true,
  },
  abuseAddress: {
    purpose: 'abuse address',
    table: 'abuse_reports',
    column: 'address_sealed',
    row: 'id',
    lasting: true,
  },
  abuseEvidence: {
    purpose: 'abuse evidence',
    table: 'abuse_reports',
    column: 'evidence_sealed',
    row: 'id',
    lasting: true,
  },
  abuseReporter: {
    purpose: 'abuse reporter',
    table: 'abuse_reporters',
    column: 'contact_sealed',
    row: 'report_id',
    lasting: true,
  },
  abuseFileName: {
    purpose: 'name of an abuse file',
    table: 'abuse_files',
    column: 'name_sealed',
    row: 'id',
    lasting: true,
  },
  abuseFile: {
    purpose: 'abuse file',
    table: 'abuse_files',
    column: 'content_sealed',
    row: 'id',
    lasting: true,
    batch: 5,
  },
  legalOrder: {
    purpose: 'legal order',
    table: 'legal_orders',
    column: 'details_sealed',
    row: 'id',
    lasting: true,
  },
  legalDocumentName: {
    purpose: 'name of a legal document',
    table: 'legal_documents',
    column: 'name_sealed',
    row: 'id',
    lasting: true,
  },
  legalDocument: {
    purpose: 'legal document',
    table: 'legal_documents',
    column: 'content_sealed',
    row: 'id',
    lasting: true,
    batch: 5,
  },
  rootPassword: { purpose: 'root password', table: 'servers', column: 'root_password_sealed', row: 'id' },
  userData: { purpose: 'user data', table: 'servers', column: 'user_data_sealed', row: 'id' },
  orderDraft: { purpose: 'order draft', table: 'order_drafts', column: 'draft_sealed', row: 'id' },
  operation: { purpose: 'operation', table: 'operations', column: 'payload_sealed', row: 'id' },
  mail: {
    purpose: 'mail data',
    table: 'mails',
    column: 'data_sealed',
    row: 'id',
    where: 'due_at is not null',
  },
  resetRequest: { purpose: 'reset request', table: 'reset_requests', column: 'email_sealed', row: 'id' },
  sandboxMail: { purpose: 'sandbox mail', table: 'sim.mails', column: 'mail_sealed', row: 'id' },
} as const satisfies Record<string, SealedColumn>;

export type SealedName = keyof typeof SEALED;

/** The columns of all sealed values. */
export const SEALED_COLUMNS: readonly SealedColumn[] = Object.values(SEALED);

/** The sealed values that outlive the rotation of the service key. */
export const LASTING_SEALED = SEALED_COLUMNS.filter(({ lasting }) => lasting);

/** The sealed values that a service still opens: not the key check, nor mail that a sandbox keeps. */
export const NEEDED_SEALED = SEALED_COLUMNS.filter(
  ({ row, table }) => row !== null && !table.startsWith('sim.'),
);
