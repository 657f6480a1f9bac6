/** The faults by name, with how often they happen and the needs of each. */
export const FAULT_WEIGHTS = {
  // Processes.
  'process killed': 6,
  'all processes killed': 2,
  'process frozen': 3,
  'process stopped': 2,
  // PostgreSQL.
  'database killed': 3,
  'database restarted': 3,
  'database restarted immediately': 2,
  'database frozen': 2,
  'backend killed': 3,
  'backends terminated': 3,
  'database disk full': 2,
  // The network before PostgreSQL.
  'database delayed': 3,
  'database unreachable': 3,
  'database connections reset': 3,
  'database connections half-open': 3,
  'database connections dropped': 2,
  'database fatal error': 4,
  // Disks and limits of a process.
  'data disk full': 2,
  'data disk read-only': 2,
  'descriptors exhausted': 2,
  'memory exhausted': 1,
  // Clocks.
  'business clock forward': 4,
  'process clock forward': 2,
  'process clock back': 2,
  // Receivers of webhooks.
  'receiver delayed': 2,
  'receiver unreachable': 2,
  'receiver connections reset': 2,
  'receiver connections half-open': 1,
  'receiver fails': 2,
  // Chains and hosts.
  reorganization: 3,
  'reorganization that drops payments': 1,
  'node fails': 3,
  'host fails': 4,
  'host frozen': 3,
  'host lost': 1,
  'host process killed': 2,
  'host process frozen': 2,
  'host delayed': 1,
  'host unreachable': 2,
  'host connections reset': 2,
  'host connections half-open': 2,
  // Fail-over.
  'primary switched': 3,
  'primary crashed': 4,
  'primary killed': 1,
} as const;
export type FaultName = keyof typeof FAULT_WEIGHTS;

/** The means of this machine and this run. */
export interface FaultSet {
  /** Root, which mounts the disks that become full. */
  readonly disks: boolean;
  /** A cluster of PostgreSQL that fails over, instead of one server. */
  readonly cluster: boolean;
}

const NEEDS: Partial<Readonly<Record<FaultName, (set: FaultSet) => boolean>>> = {
  'data disk full': ({ disks }) => disks,
  'data disk read-only': ({ disks }) => disks,
  'database disk full': ({ disks, cluster }) => disks && !cluster,
  'database killed': ({ cluster }) => !cluster,
  'database restarted': ({ cluster }) => !cluster,
  'database restarted immediately': ({ cluster }) => !cluster,
  'database frozen': ({ cluster }) => !cluster,
  'backend killed': ({ cluster }) => !cluster,
  'primary switched': ({ cluster }) => cluster,
  'primary crashed': ({ cluster }) => cluster,
  'primary killed': ({ cluster }) => cluster,
};

export function availableFaults(set: FaultSet): FaultName[] {
  const names = Object.keys(FAULT_WEIGHTS) as FaultName[];
  return names.filter((name) => NEEDS[name]?.(set) ?? true);
}

/** Whether it breaks the service itself, or what the service cannot answer without. */
export function breaksService(name: FaultName): boolean {
  return !/^(?:receiver|reorganization|node|host|business clock)/.test(name);
}

export function breaksHosts(name: FaultName): boolean {
  return name.startsWith('host ');
}
