/** A cluster of PostgreSQL that fails over, with a proxy before each of its servers. */
import type { ConnectionSettings } from '../../../src/store/db.ts';
import { type Cluster, NO_PATRONI, type PgNode, startCluster } from '../../support/patroni.ts';
import { startPgProxy } from '../../support/pg-proxy.ts';
import type { DatabaseServer } from './database.ts';

const NODES = 2;

export class ClusterDatabase implements DatabaseServer {
  readonly connection: ConnectionSettings;
  readonly cluster: Cluster;

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.connection = { connectionString: cluster.url };
  }

  static async start(): Promise<ClusterDatabase> {
    if (NO_PATRONI !== false) throw new Error(`--cluster: ${NO_PATRONI}`);
    return new ClusterDatabase(await startCluster(NODES));
  }

  async connect() {
    const target = ({ port }: PgNode) => ({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      database: 'postgres',
    });
    const proxies = await Promise.all(this.cluster.nodes.map((node) => startPgProxy(target(node))));
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return { proxies, url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write` };
  }

  async close(): Promise<void> {
    await this.cluster.close();
  }
}
