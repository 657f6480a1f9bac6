/** Two identical regions with room for all deploys of a bench, and customers who can pay. */
import { newId, newPublicNumber } from '../src/kernel/ids.ts';
import type { OpenDatabase } from '../src/store/db.ts';
import type { DeployRow } from '../src/store/servers/deploy.ts';

const REGIONS = ['aaa', 'bbb'] as const;
const HOSTS_PER_REGION = 8;

export interface DeployFixture {
  /** 16 customers per region. */
  readonly customers: readonly string[];
  readonly imageId: string;
}

export async function createDeployFixture(
  db: OpenDatabase,
  size: { addresses: number },
): Promise<DeployFixture> {
  const now = new Date();
  const imageId = newId(now);
  const customers = Array.from({ length: 32 }, () => newId(now));
  await db.run(`insert into plans values ('s1', 'vps', 1, 'bench', 1024, 10, 1, 500, true)`);
  await db.run(
    `insert into images values ($1, 'official', 'debian', '13', null, '{amd64}', 1, true, now())`,
    [imageId],
  );
  for (const [n, region] of REGIONS.entries()) {
    await db.run(`insert into regions values ($1, $1, $1, 'FR', $1)`, [region]);
    await db.run(`insert into plan_regions values ('s1', $1)`, [region]);
    for (let host = 0; host < HOSTS_PER_REGION; host++) {
      await db.run(
        `insert into hosts (id, name, region_id, cpu, ram_mb, disk_gb, created_at)
         values ($1, $2, $3, 64, 1000000000, 100000000, $4)`,
        [newId(now), `${region}-${host}`, region, now],
      );
    }
    await insertAddresses(db, region, n, size.addresses);
  }
  for (const [n, id] of customers.entries()) {
    await db.run(
      `insert into customers (id, public_no, email, email_key, password_hash, created_at)
       values ($1, $2, $3, $3, '', $4)`,
      [id, newPublicNumber(), `c${n}@example.org`, now],
    );
    await db.run(`insert into balances (customer_id, balance_cents) values ($1, 1000000000000)`, [id]);
  }
  await db.run('analyze');
  return { customers, imageId };
}

async function insertAddresses(db: OpenDatabase, region: string, n: number, count: number): Promise<void> {
  const [ipv4BlockId, ipv6BlockId] = [newId(new Date()), newId(new Date())];
  await db.run(
    `insert into ip_blocks (id, region_id, family, block, gateway, created_at)
     values ($1, $2, 4, $3::cidr, host($3::cidr)::inet, now()), ($4, $2, 6, $5::cidr, 'fe80::1', now())`,
    [ipv4BlockId, region, `${10 + n}.0.0.0/8`, ipv6BlockId, `2001:db8:${n}::/48`],
  );
  await db.run(
    `insert into ipv4_addresses (addr, block_id, region_id, gateway, free_from)
     select ($2::inet + i), $1, $3, $2::inet, '2020-01-01' from generate_series(1, $4::int) i`,
    [ipv4BlockId, `${10 + n}.0.0.0`, region, count],
  );
  await db.run(
    `insert into ipv6_prefixes (prefix, block_id, region_id, free_from)
     select set_masklen(('2001:db8:' || $2::text || ':' || to_hex(i) || '::')::inet, 64)::cidr, $1, $3,
            '2020-01-01'
       from generate_series(1, least($4::int, 65000)) i`,
    [ipv6BlockId, String(n), region, count],
  );
}

export function buildDeployRow(fixture: DeployFixture, customerId: string, region: 0 | 1): DeployRow {
  const now = new Date();
  const regionId = REGIONS[region];
  return {
    id: newId(now),
    public_no: newPublicNumber(),
    customer_id: customerId,
    name: 's1-bench',
    plan_id: 's1',
    region_id: regionId,
    image_id: fixture.imageId,
    category: 'vps',
    ram_mb: 1024,
    disk_gb: 10,
    host_tags: [],
    machine_id: null,
    ssh_keys: [],
    ssh_public_keys: [],
    tags: [],
    labels: {},
    protect_delete: false,
    protect_rebuild: false,
    never_started: false,
    snapshot_id: null,
    volume_ids: [],
    only_backend: null,
    billing_months: 1,
    auto_renew: true,
    price_cents_month: 500n,
    price_cents_cycle: 500n,
    backup_cents_cycle: 0n,
    backup_percent: null,
    eur_per_usd: '0.92',
    anchor_day: now.getUTCDate(),
    paid_until: new Date(now.getTime() + 30 * 86_400_000),
    root_password_sealed: 'k1.sealed',
    user_data_sealed: null,
    now,
    limit_chain: null,
    servers_max: 2_000_000_000,
    revenue_account: '00000000-0000-0000-0000-000000000001',
    transfer_id: newId(now),
    description: 's1, 1 month',
    operation_id: newId(now),
    action_steps: ['address', 'disk', 'boot', 'reachable'],
    action_step_times: [now, now],
    action_progress: 10,
    audit_id: newId(now),
    resource: 'srv_bench',
    actor_token: null,
    actor_session: null,
    request_id: 'req_bench',
    ip_country: 'XX',
    created_event_id: newId(now),
    created_event: { server: { id: 'srv_bench', object: 'server', status: 'provisioning' } },
    charged_event_id: newId(now),
    charged_event: { ledger_entry: { id: 'led_bench', balance_after_usd: 0 } },
  };
}
