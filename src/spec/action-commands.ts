/**
 * Actions: work that takes time, as its customer sees it. Each command has its steps in order.
 */

export interface ActionStepRule {
  readonly name: string;
  /** The progress of the action, in percent, when the step begins. */
  readonly from: number;
  /** The steps of the server's operation that it covers. A step that no rule names changes nothing. */
  readonly covers: readonly string[];
}

const step = (name: string, from: number, ...covers: readonly string[]): ActionStepRule => ({
  name,
  from,
  covers,
});

/** An install on the next disk. A first install has its addresses when it begins. */
const REINSTALL = [
  step('disk', 0, 'reinstall', 'place', 'replace'),
  step('boot', 40, 'wait_installed', 'wait_replaced'),
  step('reachable', 95),
] as const;

export const ACTION_STEPS = {
  'server.create': [
    step('address', 0),
    step('disk', 10, 'ensure', 'place'),
    step('boot', 40, 'observe'),
    step('reachable', 95),
  ],
  'server.delete': [step('remove', 0, 'remove')],
  'server.start': [step('boot', 0, 'wait_on')],
  'server.stop': [step('shutdown', 0, 'shut_down', 'wait_off')],
  'server.reboot': [step('shutdown', 0, 'shut_down', 'wait_off', 'reset'), step('boot', 50, 'wait_on')],
  'server.rescue': [step('rescue', 0, 'enter_rescue'), step('boot', 50, 'wait_on')],
  'server.resize': [
    step('shutdown', 0, 'shut_down', 'wait_off'),
    step('resize', 20, 'resize', 'copy', 'take_over'),
    step('boot', 80, 'wait_on'),
  ],
  'server.insert_iso': [step('drive', 0, 'change_iso', 'empty_drive')],
  'server.eject_iso': [step('drive', 0, 'change_iso', 'empty_drive')],
  'server.set_boot': [step('boot_order', 0, 'change_iso', 'empty_drive')],
  'server.rebuild': REINSTALL,
  'server.restore': REINSTALL,
  // By the billing cycle or the operator.
  'server.suspend': [step('shutdown', 0, 'shut_down', 'wait_off')],
  // To another host, by the operator.
  'server.move': [step('copy', 0, 'copy'), step('switch', 90, 'take_over')],
  'volume.create': [step('create', 0)],
  'volume.attach': [step('attach', 0)],
  'volume.detach': [step('detach', 0)],
  'volume.resize': [step('resize', 0)],
  'volume.delete': [step('remove', 0)],
  'snapshot.create': [step('copy', 0)],
  'snapshot.delete': [step('remove', 0)],
  'image.create': [step('check', 0)],
} as const satisfies Record<string, readonly ActionStepRule[]>;

export type ActionCommand = keyof typeof ACTION_STEPS;
export const ACTION_COMMANDS = Object.keys(ACTION_STEPS) as readonly ActionCommand[];

export const ACTION_STATUSES = ['running', 'success', 'error'] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

export const ACTION_STEP_STATUSES = ['pending', ...ACTION_STATUSES] as const;

/** The kinds of resources that have actions. */
export const ACTION_RESOURCES = ['server', 'volume', 'snapshot', 'image'] as const;
export type ActionResource = (typeof ACTION_RESOURCES)[number];

/** Why an action failed, and the sentence that its message begins with. */
export const ACTION_ERRORS = {
  out_of_stock: 'No host in the region has room for it.',
  host_failed: 'The host could not complete it.',
  boot_failed: 'The system did not boot.',
  unreachable: 'The host did not respond.',
  timeout: 'It took too long.',
  image_broken: 'The disk could not be created from the image.',
  cancelled: 'Another change replaced it.',
} as const;
export type ActionErrorCode = keyof typeof ACTION_ERRORS;
export const ACTION_ERROR_CODES = Object.keys(ACTION_ERRORS) as readonly ActionErrorCode[];

/** The sentence that a failure's message ends with: whether money went back. */
export const ACTION_MONEY = {
  none: 'Nothing was charged.',
  kept: 'Nothing was refunded: the paid cycle stays valid.',
  /** After the amount. */
  refunded: 'went back to your balance.',
} as const;

/** Where an action is: how many steps have begun, and its progress. */
export interface ActionPosition {
  readonly begun: number;
  readonly progress: number;
}

/** Returns where an operation's step puts its action; null if the step says nothing about that. */
export function actionPosition(command: ActionCommand, operationStep: string): ActionPosition | null {
  const rules: readonly ActionStepRule[] = ACTION_STEPS[command];
  const index = rules.findIndex(({ covers }) => covers.includes(operationStep));
  const rule = rules[index];
  return rule ? { begun: index + 1, progress: rule.from } : null;
}

export function actionStepNames(command: ActionCommand): readonly string[] {
  return ACTION_STEPS[command].map(({ name }) => name);
}
