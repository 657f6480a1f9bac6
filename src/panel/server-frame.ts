/** What all pages of one server have in common: its name, the way to the others, what is not as usual. */
import { PANEL_PATHS, SERVER_PARTS, type ServerPart, serverPartPath } from '../spec/paths.ts';
import { BY_HAND } from '../spec/refusal-words.ts';
import type { Server } from '../spec/schemas/server.ts';
import { can, type ServerAction, waitsForOperation, whyNot } from '../spec/states.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { tabs } from './parts.ts';

export interface ServerPage {
  readonly server: Server;
  readonly regionName: string;
  readonly cpu: number;
  readonly cpuModel: string;
  readonly ramMb: number;
  readonly diskGb: number;
  /** What its hardware can do. */
  readonly able: {
    readonly volumes: number | null;
    readonly snapshots: boolean;
    readonly console: boolean;
    readonly ownImages: boolean;
  };
  /** No driver reaches it: the operator looks after it. */
  readonly byHand: boolean;
  /** What is done to it now: `reboot`. */
  readonly underWay: string | null;
  readonly notes: readonly string[];
  readonly nextCycleUsd: number;
  readonly neverRan: boolean;
  readonly destroyAt: string | null;
}

const NAMES: Record<ServerPart, string> = {
  overview: 'Overview',
  metrics: 'Metrics',
  network: 'Network',
  storage: 'Storage',
  rebuild: 'Rebuild and rescue',
  settings: 'Settings',
};

const UNDER_WAY: Readonly<Record<string, string>> = {
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
export function underWayText({ underWay }: Pick<ServerPage, 'underWay'>): string | null {
  return underWay === null ? null : (UNDER_WAY[underWay] ?? 'Something is being done to it.');
}

/** What the service does by itself to a server that the operator looks after. */
const BESIDE_HANDS: readonly ServerAction[] = ['update', 'detach', 'destroy'];

/** Why this cannot be done to it now; null when it can. Much has to wait for what is under way. */
export function hindrance(
  page: Pick<ServerPage, 'server' | 'underWay' | 'byHand'>,
  action: ServerAction,
): string | null {
  const { status, suspended_reason: suspendedReason } = page.server;
  if (!can({ status, suspendedReason }, action)) return whyNot({ status, suspendedReason }, action);
  if (page.byHand && status !== 'suspended' && !BESIDE_HANDS.includes(action)) return BY_HAND.server;
  const text = waitsForOperation(action) ? underWayText(page) : null;
  return text && `${text} Wait until that is done.`;
}

export function serverView(page: ServerPage, part: ServerPart, body: Html, refreshS?: number): View {
  const { server } = page;
  const parts = Object.keys(SERVER_PARTS) as ServerPart[];
  const here = serverPartPath(server.id, part);
  return {
    title: part === 'overview' ? server.name : `${server.name}: ${NAMES[part].toLowerCase()}`,
    section: 'servers',
    above: [['Servers', PANEL_PATHS.servers]],
    ...(refreshS === undefined ? {} : { refreshS }),
    body: html`${tabs(
      'Pages of this server',
      parts.map((each) => [NAMES[each], serverPartPath(server.id, each)] as const),
      here,
    )}
${page.notes.map((note) => html`<p class="banner warn">${note}</p>\n`)}${body}`,
  };
}
