/** Switches of the operator, used by commands, rules, pages, and docs. */
interface SwitchRow {
  readonly default: boolean;
  /** REST operations refused with `maintenance` while the switch is off, on both surfaces. */
  readonly blockedOperations: readonly string[];
  readonly about: string;
}

/**
 * Switches that the operator turns at run time, stored in the database. Turning one on continues the work
 * that waited.
 */
export const SWITCHES = {
  'topup-credit': {
    default: true,
    blockedOperations: [],
    about: 'credit confirmed top-ups; off: payments confirm but are withheld (kill-switch)',
  },
  deploys: {
    default: true,
    blockedOperations: ['servers.create'],
    about: 'sell servers; off: new orders get a maintenance error, orders in progress are finished',
  },
  renewals: {
    default: true,
    blockedOperations: [],
    about: 'run billing by date; off: nothing is charged, suspended, resumed, warned, or deleted by date',
  },
  webhooks: {
    default: true,
    blockedOperations: [],
    about: 'send webhooks; off: events are stored and queued, nothing is sent',
  },
  mail: {
    default: true,
    blockedOperations: [],
    about: 'send mail; off: mail is queued, nothing is sent',
  },
  transparency: {
    default: false,
    blockedOperations: [],
    about: 'publish counts of legal orders at /transparency; off: the page does not exist',
  },
  'transparency-gagged': {
    default: false,
    blockedOperations: [],
    about: 'count legal orders there whose gag is in force; off: each is counted once its gag has ended',
  },
} as const satisfies Record<string, SwitchRow>;

export type SwitchName = keyof typeof SWITCHES;
export const SWITCH_NAMES = Object.keys(SWITCHES) as SwitchName[];

/** The switches that stop a part of the service when they are off. The others add something. */
export type ServiceSwitch = {
  [Name in SwitchName]: (typeof SWITCHES)[Name]['default'] extends true ? Name : never;
}[SwitchName];

export function isServiceSwitch(name: SwitchName): name is ServiceSwitch {
  return SWITCHES[name].default;
}
