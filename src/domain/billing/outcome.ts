/** The result of billing a server. */
export type BillingOutcome = 'checked' | 'renewed' | 'suspended' | 'resumed' | 'destroyed';
