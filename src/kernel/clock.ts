/** Business time: cycles, expirations, retention, retry times. Never for leases, timeouts, or signatures. */
export interface Clock {
  now(): Date;
}

/** Real time plus an offset. The offset is stored in the database, and only a sandbox can move it. */
export class OffsetClock implements Clock {
  offsetMs: number;
  constructor(offsetMs = 0) {
    this.offsetMs = offsetMs;
  }
  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }
}
