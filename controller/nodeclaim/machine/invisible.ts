import { seconds } from '#schemas/time/clock.ts';

/**
 * For how long after a launch a cloud may not show its instance: until then its absence proves nothing.
 * Source: Amazon EC2 User Guide, "Eventual consistency in the Amazon EC2 API"; Karpenter's own grace is of the same size.
 */
export const invisible = seconds(60);
