/** What a look at a server came to. */
export type Outcome = 'looked' | 'renewed' | 'suspended' | 'resumed' | 'destroyed';
