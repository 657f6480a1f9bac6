/** Thrown when another process holds the lease now. Nothing may be written under the lost lease. */
export class LeaseLost extends Error {}
