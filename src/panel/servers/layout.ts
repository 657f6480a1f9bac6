/** Parts that all pages of one server share: title, tabs, and warnings. */

import { MANUAL_HARDWARE_MESSAGES } from '../../spec/error-messages.ts';
import {
  PANEL_PATHS,
  resourcePath,
  SERVER_PAGES,
  type ServerPageKey,
  serverPagePath,
} from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { can, explainDenial, mustWaitForOperation, type ServerAction } from '../../spec/states.ts';
import { tabs } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { serverStatusBadge, shortPrice } from './format.ts';

export interface ServerPage {
  readonly server: Server;
  readonly regionName: string;
  readonly cpu: number;
  readonly cpuModel: string;
  readonly ramMb: number;
  readonly diskGb: number;
  /** The features that its hardware supports. */
  readonly capabilities: {
    readonly volumes: number | null;
    readonly snapshots: boolean;
    readonly console: boolean;
    readonly customImages: boolean;
  };
  /** Whether the operator manages the server by hand because no driver can reach it. */
  readonly manuallyOperated: boolean;
  /** The operation in progress, such as `reboot`. */
  readonly currentOperation: string | null;
  readonly notes: readonly string[];
  readonly nextCycleUsd: number;
  readonly refundUsd: number;
  readonly destroyAt: string | null;
}

const PART_NAMES: Record<ServerPageKey, string> = {
  overview: 'Overview',
  metrics: 'Metrics',
  network: 'Network',
  storage: 'Storage',
  resize: 'Resize',
  rebuild: 'Rebuild and rescue',
  settings: 'Settings',
};

const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  provision: 'The server is being installed. This takes a minute or two.',
  destroy: 'The server is being deleted.',
  stop: 'The server is shutting down.',
  start: 'The server is powering on.',
  reboot: 'The server is restarting.',
  rescue: 'The server is booting the rescue system.',
  rebuild: 'The server is being rebuilt.',
  restore: 'The server is being restored from a snapshot.',
  suspend: 'The server is being suspended.',
  resize: 'The server is being resized.',
  insert_iso: 'An ISO image is being inserted.',
  eject_iso: 'The ISO image is being ejected.',
  set_boot: 'The boot order is being changed.',
  move: 'We are moving the server to another host. It stays as it is.',
};

/** Describes the operation in progress, or returns null. */
export function describeCurrentOperation({
  currentOperation,
}: Pick<ServerPage, 'currentOperation'>): string | null {
  return currentOperation === null
    ? null
    : (OPERATION_TEXTS[currentOperation] ?? 'An operation is in progress.');
}

/** Actions that also work on a server that the operator manages by hand. */
const AUTOMATIC_ACTIONS: readonly ServerAction[] = ['update', 'detach', 'destroy'];

/** Returns why an action is unavailable now, or null. Many actions wait for the operation in progress. */
export function blockedReason(
  page: Pick<ServerPage, 'server' | 'currentOperation' | 'manuallyOperated' | 'notes'>,
  action: ServerAction,
): string | null {
  const { status, suspended_reason: suspendedReason } = page.server;
  if (!can({ status, suspendedReason }, action)) {
    const reason = explainDenial({ status, suspendedReason }, action);
    // The notes above the page's sections already explain a suspension.
    return page.notes.includes(reason) ? 'Unavailable while this server is suspended.' : reason;
  }
  if (page.manuallyOperated && status !== 'suspended' && !AUTOMATIC_ACTIONS.includes(action))
    return MANUAL_HARDWARE_MESSAGES.server;
  const text = mustWaitForOperation(action) ? describeCurrentOperation(page) : null;
  return text && `${text} Wait until this is done.`;
}

export function serverView(page: ServerPage, tab: ServerPageKey, body: Html, refreshS?: number): View {
  const { server } = page;
  const parts = Object.keys(SERVER_PAGES) as ServerPageKey[];
  const here = serverPagePath(server.id, tab);
  const overview = [server.name, serverPagePath(server.id)] as const;
  return {
    title: tab === 'overview' ? server.name : `${server.name}: ${PART_NAMES[tab].toLowerCase()}`,
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers], ...(tab === 'overview' ? [] : [overview])],
    pageName: tab === 'overview' ? server.name : PART_NAMES[tab],
    header: {
      heading: server.name,
      status: serverStatusBadge(server.status),
      facts: [
        page.regionName,
        html`<a href="${resourcePath(PANEL_PATHS.plans, server.plan)}">${server.plan}</a>`,
        shortPrice(server),
        server.ipv4 && html`<code>${server.ipv4.address}</code>`,
      ],
    },
    ...(refreshS === undefined ? {} : { refreshS }),
    live: [server.id],
    body: html`${tabs(
      'Server pages',
      parts.map((each) => [PART_NAMES[each], serverPagePath(server.id, each)] as const),
      here,
    )}
${part(
  'notes',
  page.notes.map((note) => html`<p class="banner warn">${note}</p>\n`),
)}${body}`,
  };
}
