/** What all pages of one server have in common: its name, the way to the others, what is not as usual. */

import { MANUAL_HARDWARE_MESSAGES } from '../spec/error-messages.ts';
import { PANEL_PATHS, SERVER_PAGES, type ServerPageKey, serverPagePath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import { can, explainDenial, mustWaitForOperation, type ServerAction } from '../spec/states.ts';
import { tabs } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

export interface ServerPage {
  readonly server: Server;
  readonly regionName: string;
  readonly cpu: number;
  readonly cpuModel: string;
  readonly ramMb: number;
  readonly diskGb: number;
  /** What its hardware can do. */
  readonly capabilities: {
    readonly volumes: number | null;
    readonly snapshots: boolean;
    readonly console: boolean;
    readonly customImages: boolean;
  };
  /** No driver reaches it: the operator looks after it. */
  readonly manuallyOperated: boolean;
  /** What is done to it now: `reboot`. */
  readonly currentOperation: string | null;
  readonly notes: readonly string[];
  readonly nextCycleUsd: number;
  readonly neverRan: boolean;
  readonly destroyAt: string | null;
}

const PART_NAMES: Record<ServerPageKey, string> = {
  overview: 'Overview',
  metrics: 'Metrics',
  network: 'Network',
  storage: 'Storage',
  rebuild: 'Rebuild and rescue',
  settings: 'Settings',
};

const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  provision: 'It is being installed; that takes a minute or two.',
  destroy: 'It is being destroyed.',
  stop: 'It is shutting down.',
  start: 'It is being switched on.',
  reboot: 'It is being rebooted.',
  rescue: 'It is booting the rescue system.',
  rebuild: 'It is being installed anew.',
  restore: 'It is being restored from a snapshot.',
  suspend: 'It is being switched off.',
};

/** A sentence on what is done to it now, or null. */
export function describeCurrentOperation({
  currentOperation,
}: Pick<ServerPage, 'currentOperation'>): string | null {
  return currentOperation === null
    ? null
    : (OPERATION_TEXTS[currentOperation] ?? 'Something is being done to it.');
}

/** What the service does by itself to a server that the operator looks after. */
const AUTOMATIC_ACTIONS: readonly ServerAction[] = ['update', 'detach', 'destroy'];

/** Why this cannot be done to it now; null when it can. Much has to wait for what is under way. */
export function blockedReason(
  page: Pick<ServerPage, 'server' | 'currentOperation' | 'manuallyOperated'>,
  action: ServerAction,
): string | null {
  const { status, suspended_reason: suspendedReason } = page.server;
  if (!can({ status, suspendedReason }, action)) return explainDenial({ status, suspendedReason }, action);
  if (page.manuallyOperated && status !== 'suspended' && !AUTOMATIC_ACTIONS.includes(action))
    return MANUAL_HARDWARE_MESSAGES.server;
  const text = mustWaitForOperation(action) ? describeCurrentOperation(page) : null;
  return text && `${text} Wait until that is done.`;
}

export function serverView(page: ServerPage, part: ServerPageKey, body: Html, refreshS?: number): View {
  const { server } = page;
  const parts = Object.keys(SERVER_PAGES) as ServerPageKey[];
  const here = serverPagePath(server.id, part);
  return {
    title: part === 'overview' ? server.name : `${server.name}: ${PART_NAMES[part].toLowerCase()}`,
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers]],
    ...(refreshS === undefined ? {} : { refreshS }),
    body: html`${tabs(
      'Pages of this server',
      parts.map((each) => [PART_NAMES[each], serverPagePath(server.id, each)] as const),
      here,
    )}
${page.notes.map((note) => html`<p class="banner warn">${note}</p>\n`)}${body}`,
  };
}
