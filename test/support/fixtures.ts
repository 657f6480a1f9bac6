/** Fixtures to sell: regions, plans, hosts, machines, addresses, and customers with a balance. */
import { randomBytes } from 'node:crypto';
import type { ScopedActor } from '../../src/domain/context.ts';
import { credit } from '../../src/domain/ledger/transfer.ts';
import type { DeployOrder } from '../../src/domain/servers/deploy/prepare.ts';
import type { SimulatorControl } from '../../src/drivers/compute/simulator/control.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { formatId, newId, newPublicNumber } from '../../src/kernel/ids.ts';
import type { Database } from '../../src/kernel/sql.ts';
import { insertCustomer } from '../../src/store/customers/customers.ts';
import { insertSession } from '../../src/store/customers/sessions.ts';

export interface TestPlan {
  readonly id: string;
  readonly category: 'vps' | 'dedicated';
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly host_tags: readonly string[];
  readonly price_cents_month: bigint;
  readonly backup_percent: number;
}

/** The plan that `buildOrder` uses by default. */
export const S1: TestPlan = {
  id: 's1',
  category: 'vps',
  ram_mb: 1024,
  disk_gb: 10,
  host_tags: [],
  price_cents_month: 500n,
  backup_percent: 0,
};
export const R1: TestPlan = {
  id: 'r1',
  category: 'dedicated',
  ram_mb: 65_536,
  disk_gb: 1000,
  host_tags: [],
  price_cents_month: 9_900n,
  backup_percent: 0,
};

/** No documentation block is large enough for every test. Nothing is ever sent to these addresses. */
const FIRST_OCTET = 10;

export class Fixtures {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #simulator: SimulatorControl;
  #imageId = '';
  #blocks = 0;
  #names = 0;

  constructor(parts: { db: Database; clock: Clock; simulator: SimulatorControl }) {
    this.#db = parts.db;
    this.#clock = parts.clock;
    this.#simulator = parts.simulator;
  }

  /** Adds regions, each offering every given plan, and one image. May be called again to add more. */
  async addPlans(regions: readonly string[] = ['par'], plans: readonly TestPlan[] = [S1]): Promise<void> {
    if (this.#imageId === '') {
      this.#imageId = newId(this.#clock.now());
      await this.#db.run(
        `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at)
         values ($1, 'official', 'debian', '13', '{amd64}', 1, true, '2025-08-09')`,
        [this.#imageId],
      );
    }
    for (const region of regions) {
      await this.#db.run(`insert into regions values ($1, $1, $1, 'FR', $1) on conflict do nothing`, [
        region,
      ]);
    }
    for (const plan of plans) {
      await this.#db.run(
        `insert into plans (id, category, cpu, cpu_model, ram_mb, disk_gb, transfer_tb, price_cents_month,
                            backup_percent, host_tags)
         values ($id, $category, 1, 'test', $ram_mb, $disk_gb, 1, $price_cents_month,
                 $backup_percent, $host_tags)
         on conflict do nothing`,
        plan,
      );
      await this.#db.run(
        `insert into plan_regions select $1, * from unnest($2::text[]) on conflict do nothing`,
        [plan.id, regions],
      );
    }
  }

  /**
   * Adds hosts with room for this many s1 servers each, plus half a server that does not fit. Returns their
   * names.
   */
  async addHosts(capacities: readonly number[], region = 'par'): Promise<string[]> {
    const hosts = capacities.map((capacity) => ({
      name: this.#nextName('host'),
      cpu: 64,
      ramMb: (capacity + 0.5) * S1.ram_mb,
      diskGb: (capacity + 0.5) * S1.disk_gb,
    }));
    for (const host of hosts) {
      await this.#db.run(
        `insert into hosts (id, name, region_id, cpu, ram_mb, disk_gb, created_at)
         values ($id, $name, $region, $cpu, $ramMb, $diskGb, $now)`,
        { ...host, id: newId(new Date()), region, now: this.#clock.now() },
      );
    }
    await this.#simulator.addHosts(hosts);
    return hosts.map(({ name }) => name);
  }

  /** Adds dedicated machines of a plan. Returns their names. */
  async addMachines(count: number, plan = R1, region = 'par'): Promise<string[]> {
    const names = Array.from({ length: count }, () => this.#nextName('machine'));
    for (const name of names) {
      await this.#db.run(
        `insert into machines (id, name, region_id, plan_id, state_since, created_at)
         values ($1, $2, $3, $4, $5, $5)`,
        [newId(new Date()), name, region, plan.id, this.#clock.now()],
      );
    }
    const size = { cpu: 64, ramMb: plan.ram_mb, diskGb: plan.disk_gb };
    await this.#simulator.addHosts(names.map((name) => ({ name, ...size })));
    return names;
  }

  /** Adds free IPv4 addresses and IPv6 /64s to a region. */
  async addAddresses(ipv4Count: number, ipv6Count = ipv4Count, region = 'par'): Promise<void> {
    const n = this.#blocks++;
    const [block4, block6] = [newId(new Date()), newId(new Date())];
    await this.#db.run(
      `insert into ip_blocks (id, region_id, family, block, gateway, created_at)
       values ($block4, $region, 4, $cidr4::cidr, $gateway4::inet, $now),
              ($block6, $region, 6, $cidr6::cidr, 'fe80::1', $now)`,
      {
        block4,
        region,
        cidr4: `${FIRST_OCTET}.${n}.0.0/16`,
        gateway4: `${FIRST_OCTET}.${n}.0.1`,
        block6,
        cidr6: `2001:db8:${n.toString(16)}::/48`,
        now: this.#clock.now(),
      },
    );
    await this.#db.run(
      `insert into ipv4_addresses (addr, block_id, region_id, gateway, free_from)
       select b.gateway + i, b.id, b.region_id, b.gateway, $3
         from ip_blocks b, generate_series(1, $2::int) i where b.id = $1`,
      [block4, ipv4Count, this.#clock.now()],
    );
    await this.#db.run(
      `insert into ipv6_prefixes (prefix, block_id, region_id, free_from)
       select ('2001:db8:' || $4::text || ':' || to_hex(i) || '::/64')::cidr, b.id, b.region_id, $3
         from ip_blocks b, generate_series(1, $2::int) i where b.id = $1`,
      [block6, ipv6Count, this.#clock.now(), n.toString(16)],
    );
  }

  /** Creates a customer with this balance and returns them as a session actor. */
  async addCustomer(balanceCents = 0n): Promise<ScopedActor> {
    const now = this.#clock.now();
    const customerId = newId(now);
    const email = `${customerId}@example.org`;
    await insertCustomer(this.#db, {
      id: customerId,
      publicNo: newPublicNumber(),
      email,
      emailKey: email,
      passwordHash: 'none',
      recoveryDigest: Buffer.alloc(32),
      createdAt: now,
    });
    if (balanceCents > 0n) {
      const fact = `test:${customerId}`;
      const entry = { customerId, account: 'adjustments', amountCents: balanceCents, fact } as const;
      await credit(this.#db, { ...entry, type: 'adjustment', description: 'test' }, now);
    }
    const requestId = formatId('request', newId(now));
    const sessionId = newId(now);
    await insertSession(this.#db, { digest: randomBytes(32), id: sessionId, customerId, now });
    return { customerId, sessionId, tokenId: null, requestId, ipCountry: 'IS', scope: 'billing' };
  }

  /** Returns an order for one month of plan s1 in par. */
  buildOrder(overrides: Partial<DeployOrder> = {}): DeployOrder {
    return {
      name: 'web-1',
      plan: S1,
      regionId: 'par',
      imageId: this.#imageId,
      imageType: 'official',
      sshKeys: [],
      tags: [],
      labels: {},
      billingMonths: 1,
      autoRenew: true,
      rootPasswordHash: null,
      userData: null,
      eurPerUsd: '0.92',
      ...overrides,
    };
  }

  #nextName(kind: string): string {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }
}
