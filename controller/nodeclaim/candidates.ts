import type { Candidate } from '#machine/machine.ts';
import { fromSelector, type Requirements } from '#scheduling/requirements.ts';
import type { InstanceType, Offering } from '#schemas/instances/instance-type.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, onDemand } from '#schemas/names.ts';
