/** Inputs and output of the operator's commands. */
import type { Service } from '../domain/context.ts';
import type { IdentityOptions } from '../domain/database-identity.ts';
import type { RegisterHosts } from '../domain/inventory/hosts.ts';
import type { HostInviter } from '../domain/inventory/invite-host.ts';
import type { CarryOut } from '../domain/staff/approvals.ts';
import type { Market } from '../kernel/market-rate.ts';
import type { FixedPrices } from '../kernel/settings/lists.ts';
import type { ArchiveSource, WalArchive } from '../ports/archives.ts';
import type { MailParser } from '../ports/incoming-mail.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { SettingView } from '../spec/settings.ts';
import type { OpenDatabase } from '../store/db.ts';
import type { Output, Terminal } from './format/output.ts';

export type { Terminal };

/** Opened only when a command needs them. The caller that supplies them closes them. */
export interface OperatorResources {
  /** Every setting with its current value. */
  settings(): readonly SettingView[];
  /** The database, with any schema version. */
  database(): Promise<OpenDatabase>;
  /** How to open a restored database. Absent where none can be restored. */
  identity?(): IdentityOptions;
  /** The backups in the store of files; null if none is set. */
  archives?(): Promise<ArchiveSource | null>;
  /** The archives for point-in-time recovery in a folder, or in the store if it is null. */
  walArchives?(folder: string | null): Promise<readonly StoredWal[]>;
  /** The service, on a database with the current schema. */
  service(): Promise<OpenService>;
}

/** The archive of one cluster of PostgreSQL. */
export interface StoredWal {
  /** The incarnation of its database. */
  readonly database: string;
  readonly archive: WalArchive;
}

export interface OpenService {
  readonly service: Service;
  readonly register: RegisterHosts;
  /** The URL of the console; null if it is off. */
  readonly consoleUrl?: string | null;
  /** Runs an act that was approved. */
  readonly carryOut: CarryOut;
  /** Ends a simulated host. Absent where hosts are real. */
  readonly endSimulatedHost?: (name: string) => Promise<void>;
  /** Absent where no machine can join. */
  readonly inviter?: HostInviter;
  /** Absent where no mail is received. */
  readonly mailParser?: MailParser;
  /** Null in a sandbox. */
  readonly coins: CoinContext | null;
}

/** Access to real coins outside the service itself. */
export interface CoinContext {
  readonly market: Market;
  /** The prices that apply instead, unless empty. */
  readonly fixedPrices: FixedPrices;
  /** Null if the coin is not accepted or its addresses cannot be derived. */
  readonly deriverFor: (coin: CoinCode) => AddressDeriver | null;
}

/** Derives a coin's addresses by their index in the offline wallet. */
export interface AddressDeriver {
  /** The derivation path below the account, up to the index. */
  readonly path: string;
  /** The coin that uses this address, now or later; null if none does. */
  readonly coinAt: (number: number) => CoinCode | null;
  readonly addressAt: (number: number) => Promise<string>;
}

/** Passed to every command's `add…` function. */
export interface OperatorContext {
  readonly resources: OperatorResources;
  readonly terminal: Output;
}

/** The command ran and reported a problem: no further message is needed. */
export class ProblemsFound extends Error {
  readonly exitCode: number;
  constructor(exitCode = 1) {
    super();
    this.exitCode = exitCode;
  }
}
