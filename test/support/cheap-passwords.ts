import type { PasswordCost } from '../../src/kernel/passwords.ts';

/** Tests sign up thousands of customers. At full cost, their passwords would take a third of the time. */
export const CHEAP_PASSWORDS: PasswordCost = { memoryKib: 64, passes: 1 };
