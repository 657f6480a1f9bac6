/** Business time: cycles, expiries, retention, retry due times. Never leases, time-outs or signatures. */
export interface Clock {
  now(): Date;
}

/** Real time plus an offset. The offset is kept in the database and only a sandbox can move it. */
export class OffsetClock implements Clock {
  offsetMs: number;
  constructor(offsetMs = 0) {
    this.offsetMs = offsetMs;
  }
  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }
}
