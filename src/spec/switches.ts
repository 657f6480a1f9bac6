/** Switches of the operator, read by commands, rules, pages and documents. */
interface SwitchRow {
  readonly default: boolean;
  /** REST operations that are refused as in maintenance while it is off, on both surfaces. */
  readonly blockedOperations: readonly string[];
  readonly about: string;
}

/** Switches that the operator turns while the service runs, kept in the database. What waited goes on when one is turned on. */
export const SWITCHES = {
  'topup-credit': {
    default: true,
    blockedOperations: [],
    about: 'credit confirmed top-ups; off = the kill-switch is on: payments are confirmed but held',
  },
  deploys: {
    default: true,
    blockedOperations: ['servers.create'],
    about: 'sell servers; off: new ones are refused as in maintenance, those being made are finished',
  },
  renewals: {
    default: true,
    blockedOperations: [],
    about: 'bill by the calendar; off: nothing is charged, suspended, resumed, warned or destroyed by date',
  },
  webhooks: {
    default: true,
    blockedOperations: [],
    about: 'send to webhooks; off: events are kept and queued, nothing is sent',
  },
  mail: {
    default: true,
    blockedOperations: [],
    about: 'send mail; off: mails are queued, nothing is sent',
  },
} as const satisfies Record<string, SwitchRow>;

export type SwitchName = keyof typeof SWITCHES;
export const SWITCH_NAMES = Object.keys(SWITCHES) as SwitchName[];
