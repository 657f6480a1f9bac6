/** Every limit of SPEC "Limits" and DECISIONS "Limits not in SPEC". Each name ends with its unit. */
export const LIMITS = {
  topupMinCents: 3_000n,
  topupMaxCents: 1_000_000n,
  /** A payment in a block within this time after the rate lock ends still gets the locked rate. */
  rateLockGraceHours: 3,
  /** How long a quote limits the price of an order. */
  quoteMinutes: 60,
  /** A payment short by up to this share counts as full: wallets deduct their fee from the amount. */
  topupTolerancePerMille: 5n,
  /** Transactions listed per invoice: dust is cheap and would make responses and events long. */
  topupTxidsMax: 100,
  rootPasswordMinChars: 12,
  rootPasswordMaxChars: 128,
  passwordMinChars: 12,
  passwordMaxChars: 256,
  emailMaxChars: 254,
  /** An armored key; third-party signatures make it long. */
  openPgpKeyMaxBytes: 64 * 1024,
  /** Lifetimes of mailed links: confirm an address, set a new password, undo an address change. */
  confirmLinkDays: 3,
  resetLinkHours: 2,
  undoLinkDays: 7,
  /** A younger OpenPGP key may be an intruder's, so notices of an address change are sent unencrypted. */
  openPgpKeyTrustedDays: 7,
  /** Mails with a link per hour, for each requesting account and for each recipient. */
  linkMailsPerHour: 5,
  /** Sign-in notices per customer per hour. */
  signInMailsPerHour: 10,
  /** Notices of one kind of account change per customer per hour. */
  accountMailsPerHour: 10,
  /** Time to confirm a new second factor. */
  totpEnrollmentMinutes: 60,
  /** Incorrect one-time codes per account per hour: three of a million codes are valid at a time. */
  totpFailuresPerHour: 10,
  /** Incorrect one-time codes per mailed link; then the link is void and the customer requests another. */
  totpFailuresPerLink: 5,
  /** A second factor younger than this at an address change may be an intruder's: undoing removes it. */
  totpTrustedDays: 7,
  passkeysMax: 20,
  /** How long the browser may take to answer. */
  passkeyChallengeMinutes: 5,
  nameMaxChars: 63,
  labelPairsMax: 32,
  labelSelectorMaxChars: 1_000,
  /** The default quota of groups. */
  firewallGroupsPerOrderMax: 50,
  /** As many as a virtual server can have. */
  volumesPerOrderMax: 16,
  labelValueMaxChars: 255,
  /** An RSA key of 16384 bits has about 2,800; the rest is comment. */
  sshPublicKeyMaxChars: 8_192,
  hostNameMaxChars: 253,
  ipv6TextMaxChars: 45,
  /** A comma-separated list of about fifty ports. */
  rulePortMaxChars: 255,
  ruleNoteMaxChars: 255,
  userDataMaxBytes: 64 * 1024,
  /** Backups of one server. They do not count as its snapshots. */
  backupsKept: 7,
  backupsKeptMax: 30,
  /** How long the backups of a deleted server are kept. */
  backupsOfDeletedServerDays: 30,
  volumeMinGb: 10,
  volumeMaxGb: 4_096,
  imageUploadMaxBytes: 4 * 1024 ** 3,
  /** Concurrent uploads per customer; no quota counts their disk space yet. */
  imageUploadsConcurrent: 2,
  /** An upload without data for this long is aborted. */
  imageUploadIdleS: 60,
  /** Uploads from the panel arrive in parts, and resume until this long after the last byte. */
  imageUploadPartBytes: 8 * 1024 ** 2,
  imageUploadPartIdleS: 20,
  imageUploadResumeHours: 24,
  pageSizeDefault: 25,
  pageSizeMax: 100,
  /** Orders that a customer can keep while they top up, how long, and the fields of one as JSON. */
  orderDraftsMax: 3,
  orderDraftDays: 7,
  orderDraftMaxBytes: 512 * 1024,
  /** Filters of the server list that a customer can save, and the length of the query that each keeps. */
  savedFiltersMax: 20,
  savedFilterMaxChars: 1_000,
  /** Addresses that the text view of the server list has. */
  listedAddressesMax: 1_000,
  idempotencyKeyMaxChars: 255,
  idempotencyRetentionHours: 24,
  idempotencyWaitMs: 30_000,
  /** Time limits of requests, by method; then they get 503, and nothing was changed. */
  readTimeoutMs: 5_000,
  writeTimeoutMs: 15_000,
  readyTimeoutMs: 1_000,
  consoleUrlMinutes: 5,
  metricsRetentionDays: 30,
  /** Days of availability on the status page. */
  availabilityDays: 90,
  /** Retention of metrics by the minute and by five minutes. */
  minuteMetricsHours: 6,
  fiveMinuteMetricsHours: 48,
  /** Servers that an alert can list. */
  alertServersMax: 100,
  /** Mails about alerts per customer per hour, and the alerts that one of them lists. */
  alertMailsPerHour: 10,
  alertMailLines: 20,
  ticketSubjectMaxChars: 120,
  ticketTextMaxChars: 8_000,
  /** Messages of one ticket, notes of staff included. */
  ticketMessagesMax: 100,
  /** Messages that are kept for staff, so that a full ticket can be answered. */
  ticketMessagesForStaff: 20,
  ticketFilesMax: 20,
  ticketFileMaxBytes: 1024 ** 2,
  /** Of all files in the tickets of a customer. */
  ticketFilesMaxBytes: 50 * 1024 ** 2,
  ticketFileNameMaxChars: 100,
  /** New tickets of a customer in 24 hours, and the customer's messages in all tickets. */
  ticketsPerDay: 20,
  ticketMessagesPerDay: 200,
  /** A ticket without new messages for as long is closed. */
  ticketIdleDays: 180,
  /** After a ticket was closed. */
  ticketRetentionDays: 365,
  /** Of a mail to tickets, with its files in their encoding. */
  ticketMailMaxBytes: 10 * 1024 ** 2,
  ticketMailRecipientsMax: 20,
  /** Connections of mail servers at a time, in each process. */
  ticketMailConnectionsMax: 8,
  /** Longer than mail servers try to deliver a mail. */
  ticketMailRetentionDays: 14,
  cannedAnswersMax: 100,
  auditRetentionDays: 90,
  /**
   * How long it is known who had an address, from its release: complaints and orders of courts arrive months
   * after the incident. After the account is deleted, no longer than its audit rows.
   */
  addressHistoryDays: 180,
  addressHistoryShown: 50,
  actionRetentionDays: 90,
  eventTypesMaxChars: 1_000,
  deliveryRetentionDays: 7,
  /** How long the event stream can be replayed. */
  eventRetentionDays: 30,
  /** A sent mail is kept without its text, so that one cause never sends two mails. */
  mailRetentionDays: 30,
  /** Until then a used or expired mailed link is reported as such; later it is unknown. */
  mailLinkRetentionDays: 7,
  /** Open event streams per customer, and in total, in one process. */
  eventStreamsPerCustomer: 10,
  /** Open streams of the panel per customer: one per browser, and those that a browser just left. */
  liveStreamsPerCustomer: 10,
  eventStreamsMax: 2_000,
  /** A stream sends a heartbeat at least this often. */
  eventHeartbeatS: 15,
  webhookUrlMaxChars: 2_048,
  /** Event names in one subscription, including duplicates. */
  webhookEventsMax: 100,
  /** Pings and replays of one subscription that wait for their first attempt; more get 409. */
  webhookPendingMax: 20,
  webhookAttemptsMax: 6,
  /** Delays before attempts 2 to 6. */
  webhookBackoffMinutes: [1, 5, 30, 5 * 60, 24 * 60],
  /** Concurrent deliveries per subscription: in flight, or answered but not recorded yet. */
  webhookConcurrency: 4,
  /** The part of a receiver's response that is read. */
  webhookResponseMaxBytes: 64 * 1024,
  webhookTimeoutMs: 10_000,
  webhookToleranceS: 300,
  clockSkewS: 30,
  deprecatedImageDays: 90,
  lowBalanceDays: 7,
  /** An announced price applies to cycles that begin this long after the announcement. */
  priceNoticeDays: 30,
  /** A later date is probably a typing error. */
  priceNoticeMaxDays: 730,
  tokenLastUsedRefreshS: 60,
  ipv4PoolWarning: 50,
  /** Free addresses of a coin without public derivation; below this the operator should import more. */
  addressPoolWarning: 50,
  /** Addresses that an operator can skip at once. */
  addressSkipMax: 100_000,
  /** Unpaid top-ups of one coin per day; more widen the address gap that the operator's wallet must scan. */
  unpaidTopupsWarning: 500,
  sessionIdleHours: 24,
  sessionMaxDays: 30,
  /** Tags of a host, and those that a plan asks for. */
  hostTags: 16,
  /** Active sessions per customer; a new one replaces the oldest. */
  sessionsMax: 50,
  /** A JSON body on the REST surface: 64 KiB of user data take 88 KiB as Base64. */
  jsonBodyMaxBytes: 256 * 1024,
  /** A form body on the session surface: an OpenPGP key of 64 KiB takes about 80 KiB form-encoded. */
  formBodyMaxBytes: 96 * 1024,
  /** A form body of the panel: 64 KiB of user data triple if every character is encoded as `%3A`. */
  panelFormBodyMaxBytes: 224 * 1024,
} as const;

/** Limits per customer; beyond them 422 / `limit_reached` with `limit`. SKERRY_QUOTAS overrides them. */
export const QUOTAS = {
  servers: 50,
  tokens: 50,
  webhooks: 20,
  alerts: 50,
  sshKeys: 100,
  volumes: 100,
  volumesDiskGb: 8 * 1024,
  /** Includes those of deleted servers: snapshots outlive their server. */
  snapshots: 500,
  snapshotsPerServer: 10,
  customImages: 10,
  customImagesGb: 20,
  firewallGroups: 50,
  rulesPerGroup: 100,
  tagsPerServer: 32,
  /** Host names in the /64 of a server. */
  rdnsPerServer: 64,
  openTopups: 20,
  /** Created in the last 24 hours and unpaid, in any status: each has used up an address permanently. */
  unpaidTopupsPerDay: 50,
  /** Unpaid top-ups in a coin whose addresses the operator imports. */
  unpaidPoolTopupsPerDay: 20,
} as const;

/**
 * The quotas as the API and the panel show them, by name. Decision 25 says why two quotas are only in the
 * docs.
 */
export const SHOWN_QUOTAS = [
  { name: 'alerts', title: 'Alerts', quota: 'alerts', per: 'account' },
  { name: 'api_tokens', title: 'API tokens', quota: 'tokens', per: 'account' },
  { name: 'custom_images', title: 'Custom images', quota: 'customImages', per: 'account' },
  { name: 'custom_images_gb', title: 'Custom images, GiB in total', quota: 'customImagesGb', per: 'account' },
  { name: 'firewall_groups', title: 'Firewall groups', quota: 'firewallGroups', per: 'account' },
  { name: 'open_topups', title: 'Open top-ups', quota: 'openTopups', per: 'account' },
  { name: 'rdns_per_server', title: 'Reverse DNS names of a server', quota: 'rdnsPerServer', per: 'server' },
  { name: 'servers', title: 'Servers', quota: 'servers', per: 'account' },
  { name: 'snapshots', title: 'Snapshots', quota: 'snapshots', per: 'account' },
  {
    name: 'snapshots_per_server',
    title: 'Snapshots of a server',
    quota: 'snapshotsPerServer',
    per: 'server',
  },
  { name: 'ssh_keys', title: 'SSH keys', quota: 'sshKeys', per: 'account' },
  { name: 'tags_per_server', title: 'Tags of a server', quota: 'tagsPerServer', per: 'server' },
  {
    name: 'unpaid_topups_per_day',
    title: 'Unpaid top-ups in 24 hours',
    quota: 'unpaidTopupsPerDay',
    per: 'account',
  },
  { name: 'volumes', title: 'Volumes', quota: 'volumes', per: 'account' },
  { name: 'volumes_disk_gb', title: 'Volumes, GiB on disk', quota: 'volumesDiskGb', per: 'account' },
  { name: 'webhooks', title: 'Webhooks', quota: 'webhooks', per: 'account' },
] as const satisfies readonly ShownQuota[];

interface ShownQuota {
  readonly name: string;
  readonly title: string;
  readonly quota: keyof typeof QUOTAS;
  readonly per: 'account' | 'server';
}

/** The quotas that the operator may set for one customer. */
export const OWN_LIMITS = SHOWN_QUOTAS.filter(({ per }) => per === 'account');
export type OwnLimitName = (typeof SHOWN_QUOTAS)[number]['name'];
export const OWN_LIMIT_MAX = 1_000_000;

/** Warning days before a suspended server is deleted; only those within the grace period apply. */
export const DESTRUCTION_WARNING_DAYS = [7, 3, 1] as const;

/** SPEC "What the service does" 6: months of a cycle → discount in percent. */
export const CYCLE_DISCOUNT_PERCENT = { 1: 0, 3: 25, 6: 35, 12: 50 } as const;
export type CycleMonths = keyof typeof CYCLE_DISCOUNT_PERCENT;
export const CYCLE_MONTHS: readonly CycleMonths[] = [1, 3, 6, 12];

export function isCycleMonths(months: number): months is CycleMonths {
  return Object.hasOwn(CYCLE_DISCOUNT_PERCENT, months);
}

/** SPEC 4: `[threshold_usd, bonus_usd]`. The bonus is flat; the highest tier reached applies. */
export const BONUS_TIERS_USD: readonly (readonly [thresholdUsd: number, bonusUsd: number])[] = [
  [100, 30],
  [250, 100],
  [500, 300],
  [1000, 700],
];
