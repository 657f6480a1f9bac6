/** Servers that a form offers to choose from, and how a page names one. */
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Server } from '../spec/schemas/server.ts';
import { can, type ServerAction } from '../spec/states.ts';
import { type Html, html } from './html.ts';

/** Rows of a select. One that may not be asked for this now is shown and cannot be chosen. */
export function serverChoices(
  servers: readonly Server[],
  action: ServerAction,
): readonly (readonly [id: string, name: string, off?: boolean])[] {
  return servers.map((server) => {
    const off = !isActionAllowed(server, action);
    return [server.id, `${server.name} (${server.region}, ${server.status})`, off];
  });
}

export function isActionAllowed(
  { status, suspended_reason: suspendedReason }: Server,
  action: ServerAction,
): boolean {
  return can({ status, suspendedReason }, action);
}

/** A link by the server's name, or its id where it is none of those. */
export function serverLink(id: string, servers: readonly Pick<Server, 'id' | 'name'>[]): Html {
  const server = servers.find((one) => one.id === id);
  if (!server) return html`<code>${id}</code>`;
  return html`<a href="${resourcePath(PANEL_PATHS.servers, id)}">${server.name}</a>`;
}
