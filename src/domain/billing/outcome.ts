/** What a look at a server came to. */
export type BillingOutcome = 'looked' | 'renewed' | 'suspended' | 'resumed' | 'destroyed';
