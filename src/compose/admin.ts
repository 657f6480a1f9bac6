/** The operator's listener of this process: the console and its API. */
import type { Server } from 'node:http';
import type { FastifyListenOptions } from 'fastify';
import type { Config } from '../config.ts';
import { buildAdminServer } from '../http/admin/server.ts';
import type { RequestMetrics } from '../http/metrics/requests.ts';
import type { SiteSettings } from '../http/settings.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { parseTrustedProxies } from '../kernel/settings/lists.ts';
import { isUnavailable } from '../store/connections/errors.ts';
import { createHostInviter } from './backends.ts';
import { createHostRegistrar, endSimulatedHosts } from './seed.ts';
import type { OpenedService } from './service.ts';
import { toListenError } from './startup-messages.ts';

export interface AdminListener {
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** Opens the port of the console; null if none is set. */
export async function listenForStaff(
  config: Config,
  opened: OpenedService,
  {
    sharedPort,
    site,
    requests,
    isStopping,
  }: {
    readonly sharedPort: boolean;
    readonly site: SiteSettings;
    readonly requests: RequestMetrics;
    readonly isStopping: () => boolean;
  },
): Promise<AdminListener | null> {
  const { SKERRY_ADMIN_HOST: host, SKERRY_ADMIN_PORT: port } = config;
  if (port === null) return null;
  const simulated = opened.simulation?.compute ?? null;
  let listenUrl = consoleUrl(config, port);
  const http = buildAdminServer({
    service: opened.service,
    hosts: {
      register: createHostRegistrar(opened.service, simulated),
      inviter: createHostInviter(opened.service),
      ...endSimulatedHosts(simulated),
    },
    requestLog: opened.requestLog,
    metrics: { requests, sharesPort: sharedPort },
    trustedProxies: parseTrustedProxies(config.SKERRY_TRUSTED_PROXIES),
    isStopping,
    settings: {
      get baseUrl() {
        return listenUrl;
      },
      site,
      isUnavailable,
    },
  });
  const options: FastifyListenOptions & { reusePort: boolean } = { host, port, reusePort: sharedPort };
  try {
    await http.listen(options);
  } catch (error) {
    await http.close();
    const known = toListenError({ ...config, SKERRY_HOST: host, SKERRY_PORT: port }, error);
    if (!(known instanceof OperatorError)) throw known;
    throw new OperatorError(known.message.replace(/^SKERRY_/, 'SKERRY_ADMIN_'));
  }
  const address = http.server.address();
  if (typeof address === 'object' && address !== null) listenUrl = consoleUrl(config, address.port);
  return { url: listenUrl, server: http.server, close: () => http.close() };
}

/** Returns the setting, or the address that the console listens on. */
export function consoleUrl(config: Config, port: number): string {
  if (config.SKERRY_ADMIN_BASE_URL !== null) return config.SKERRY_ADMIN_BASE_URL;
  const { SKERRY_ADMIN_HOST: name } = config;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
