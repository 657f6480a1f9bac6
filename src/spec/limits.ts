/** Every limit of SPEC "Limits" and DECISIONS "Limits not in SPEC", with its unit in its name. */
export const LIMITS = {
  topupMinCents: 3_000n,
  topupMaxCents: 1_000_000n,
  /** In a block by this long after the rate lock's end, a payment still has the locked rate. */
  rateLockGraceHours: 3,
  /** Short by up to this part of a thousand counts as the asked amount: wallets take their fee from the sum. */
  topupTolerancePerMille: 5n,
  /** Transactions that are told of one invoice: dust costs little, and nobody makes answers and events long with it. */
  topupTxidsMax: 100,
  rootPasswordMinChars: 12,
  rootPasswordMaxChars: 128,
  passwordMinChars: 12,
  passwordMaxChars: 256,
  emailMaxChars: 254,
  /** An armored key; others' signatures make them long. */
  openPgpKeyMaxBytes: 64 * 1024,
  /** How long links in mails live: to confirm an address, to set a new password, to take a change of address back. */
  confirmLinkDays: 3,
  resetLinkHours: 2,
  undoLinkDays: 7,
  /** A change of address is told in the clear where the OpenPGP key is younger: whoever took the account over may have set it. */
  openPgpKeyTrustedDays: 7,
  /** Mails with a link in an hour, asked for by one account or sent to one address. */
  linkMailsPerHour: 5,
  /** Mails in an hour that tell one customer of a sign-in. */
  signInMailsPerHour: 10,
  /** Mails in an hour that tell one customer of changes of one kind to his account. */
  accountMailsPerHour: 10,
  /** A second factor that was begun is to be confirmed within this time. */
  totpEnrollmentMinutes: 60,
  /** Wrong one-time codes on one account in an hour: of a million codes three fit at a time. */
  totpFailuresPerHour: 10,
  /** Wrong one-time codes with one mailed link: then it is void, and another one has to be asked for. */
  totpFailuresPerLink: 5,
  /** A second factor that is younger than this when the address is changed may be a thief's: taking the change back drops it. */
  totpTrustedDays: 7,
  nameMaxChars: 63,
  labelPairsMax: 32,
  labelValueMaxChars: 255,
  /** An RSA key of 16384 bits has some 2800; the rest is comment. */
  sshPublicKeyMaxChars: 8_192,
  hostNameMaxChars: 253,
  ipv6TextMaxChars: 45,
  /** A comma list of some fifty ports. */
  rulePortMaxChars: 255,
  ruleNoteMaxChars: 255,
  userDataMaxBytes: 64 * 1024,
  volumeMinGb: 10,
  volumeMaxGb: 4_096,
  imageUploadMaxBytes: 4 * 1024 ** 3,
  /** Uploads of one customer at the same time; what they take on the disk counts for no quota yet. */
  imageUploadsConcurrent: 2,
  /** An upload of which nothing comes for so long is cut. */
  imageUploadIdleS: 60,
  pageSizeDefault: 25,
  pageSizeMax: 100,
  idempotencyKeyMaxChars: 255,
  idempotencyRetentionHours: 24,
  idempotencyWaitMs: 30_000,
  consoleUrlMinutes: 5,
  metricsRetentionDays: 30,
  auditRetentionDays: 90,
  deliveryRetentionDays: 7,
  /** How long the event stream can be replayed. */
  eventRetentionDays: 30,
  /** A mail that was sent is remembered, without its text, so that nothing is mailed twice for one cause. */
  mailRetentionDays: 30,
  /** For so long it is said of a link in a mail that it was used or is over; afterwards it is unknown. */
  mailLinkRetentionDays: 7,
  /** Open event streams of one customer, and of all, in one process. */
  eventStreamsPerCustomer: 10,
  eventStreamsMax: 2_000,
  /** A stream says at least this often that it is there. */
  eventHeartbeatS: 15,
  webhookUrlMaxChars: 2_048,
  /** Names in one subscription, repetitions included. */
  webhookEventsMax: 100,
  /** Pings and replays of one subscription that wait to be sent for the first time; more of them are 409. */
  webhookPendingMax: 20,
  webhookAttemptsMax: 6,
  /** Before attempts 2 to 6. */
  webhookBackoffMinutes: [1, 5, 30, 5 * 60, 24 * 60],
  /** Deliveries to one subscription at once: under way, or answered and not written yet. */
  webhookConcurrency: 4,
  /** What is read of a receiver's answer. */
  webhookResponseMaxBytes: 64 * 1024,
  webhookTimeoutMs: 10_000,
  webhookToleranceS: 300,
  clockSkewS: 30,
  deprecatedImageDays: 90,
  lowBalanceDays: 7,
  /** An announced price holds for cycles that begin this long after the announcement. */
  priceNoticeDays: 30,
  /** Further ahead than this is a slip of the keyboard. */
  priceNoticeMaxDays: 730,
  tokenLastUsedRefreshS: 60,
  ipv4PoolWarning: 50,
  /** Addresses of a coin without public derivation; below that the operator should make more. */
  addressPoolWarning: 50,
  /** That an operator passes by at once. */
  addressSkipMax: 100_000,
  /** Top-ups of one coin in a day that nobody paid: more of them widen the gap that the operator's wallet must bridge. */
  unpaidTopupsWarning: 500,
  sessionIdleHours: 24,
  sessionMaxDays: 30,
  /** Living sessions of one customer; the oldest makes room. */
  sessionsMax: 50,
  /** One JSON body of the REST surface: 64 KiB of user data take 88 as Base64. */
  jsonBodyMaxBytes: 256 * 1024,
  /** One form body of the session surface: an OpenPGP key of 64 KiB takes some 80, written as a form. */
  formBodyMaxBytes: 96 * 1024,
  /** One of the panel's: 64 KiB of user data take three times as much where a form has to write each sign as `%3A`. */
  panelFormBodyMaxBytes: 224 * 1024,
} as const;

/** Counts per customer; 422 / `limit_reached` with `limit` beyond them. The operator sets others by SKERRY_QUOTAS. */
export const QUOTAS = {
  servers: 50,
  tokens: 50,
  webhooks: 20,
  sshKeys: 100,
  volumes: 100,
  volumesDiskGb: 8 * 1024,
  /** Of all servers, those that are gone included: snapshots outlive their server. */
  snapshots: 500,
  snapshotsPerServer: 10,
  customImages: 10,
  customImagesGb: 20,
  firewallGroups: 50,
  rulesPerGroup: 100,
  tagsPerServer: 32,
  /** Host names within a server's /64. */
  rdnsPerServer: 64,
  openTopups: 20,
  /** Made in the last 24 hours and not paid, whatever became of them: each has taken an address for ever. */
  unpaidTopupsPerDay: 50,
  /** Of these, in a coin whose addresses the operator makes by hand. */
  unpaidPoolTopupsPerDay: 20,
} as const;

/** Days before a suspended server is destroyed on which its customer is warned; those that fit into the grace period. */
export const DESTRUCTION_WARNING_DAYS = [7, 3, 1] as const;

/** SPEC "What the service does" 6: months of a cycle → discount in per cent. */
export const CYCLE_DISCOUNT_PERCENT = { 1: 0, 3: 25, 6: 35, 12: 50 } as const;
export type CycleMonths = keyof typeof CYCLE_DISCOUNT_PERCENT;
export const CYCLE_MONTHS: readonly CycleMonths[] = [1, 3, 6, 12];

export function isCycleMonths(months: number): months is CycleMonths {
  return Object.hasOwn(CYCLE_DISCOUNT_PERCENT, months);
}

/** SPEC 4: `[threshold_usd, bonus_usd]`, flat, the highest tier reached. */
export const BONUS_TIERS_USD: readonly (readonly [thresholdUsd: number, bonusUsd: number])[] = [
  [100, 30],
  [250, 100],
  [500, 300],
  [1000, 700],
];
