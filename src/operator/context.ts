/** What the operator's commands are given, and where their words go. */
import type { Service } from '../domain/context.ts';
import type { RegisterHosts } from '../domain/inventory/hosts.ts';
import type { Market } from '../kernel/market-rate.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { SettingView } from '../spec/settings.ts';
import type { OpenDatabase } from '../store/db.ts';

/** Opened only when a command needs them; whoever gave the doors closes what was opened. */
export interface OperatorResources {
  /** Every setting as it stands. */
  settings(): readonly SettingView[];
  /** The database as it is, of whatever version. */
  database(): Promise<OpenDatabase>;
  /** The service on a database of this version. */
  service(): Promise<OpenService>;
}

export interface OpenService {
  readonly service: Service;
  readonly register: RegisterHosts;
  /** Null in a sandbox. */
  readonly coins: CoinContext | null;
}

/** What is known of real coins beside the service itself. */
export interface CoinContext {
  readonly market: Market;
  /** Null where the coin is not taken, or nobody can derive its addresses. */
  readonly deriverFor: (coin: CoinCode) => AddressDeriver | null;
}

/** The addresses of a coin by their numbers in the offline wallet. */
export interface AddressDeriver {
  /** What stands before a number, seen from the account. */
  readonly path: string;
  /** Whose address it is, or will be; null: nobody's. */
  readonly coinAt: (number: number) => CoinCode | null;
  readonly addressAt: (number: number) => Promise<string>;
}

export interface Terminal {
  /** One line on standard output. */
  readonly out: (line: string) => void;
  /** One line on standard error. */
  readonly err: (line: string) => void;
  /** Asks yes or no; null when nobody is there to answer. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
}

/** What every command's file is handed. */
export interface OperatorContext {
  readonly resources: OperatorResources;
  readonly terminal: Terminal;
}

/** The command did its work and found something wrong: it has said so, and the exit code is 1. */
export class ProblemsFound extends Error {}
