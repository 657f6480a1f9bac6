/** Servers as choices in a form, and links to them. */
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { can, type ServerAction } from '../../spec/states.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';

/** Returns rows of a select. A server whose state does not allow the action is shown but disabled. */
export function serverChoices(
  servers: readonly Server[],
  action: ServerAction,
): readonly (readonly [id: string, name: string, off?: boolean])[] {
  const label = labelsOf(servers);
  return servers.map((server) => {
    const off = !isActionAllowed(server, action);
    return [server.id, `${label(server)} (${server.status})`, off];
  });
}

export function isActionAllowed(
  { status, suspended_reason: suspendedReason }: Server,
  action: ServerAction,
): boolean {
  return can({ status, suspendedReason }, action);
}

/** Returns a link with the server's name, or its id if the server is not in the list. */
export function serverLink(id: string, servers: readonly Pick<Server, 'id' | 'name'>[]): Html {
  const server = servers.find((each) => each.id === id);
  if (!server) return html`<code>${id}</code>`;
  return html`<a href="${resourcePath(PANEL_PATHS.servers, id)}">${labelsOf(servers)(server)}</a>`;
}
