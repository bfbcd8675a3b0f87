import type { Explanation } from './explanation.ts';

const refused = "The write is refused by the CRD's own rules, with or without the webhook.";

/** KPU1xx: said when an object is written. */
export const admission = {
  KPU101: {
    title: 'On-demand machines are ruled out',
    happens:
      'The write is refused where the webhook or the policies run. A pool that came in otherwise gets ValidationSucceeded=False and launches nothing.',
    fix: 'Add "on-demand" to the values of the karpenter.sh/capacity-type requirement, or remove it.',
  },
  KPU110: {
    title: 'The node class names no cloud',
    happens: refused,
    fix: 'Set spec.aws.',
  },
  KPU111: {
    title: 'The image is given twice or not at all',
    happens: refused,
    fix: 'Set either spec.image.id or spec.image.selectorTerms.',
  },
  KPU112: {
    title: 'A selector term selects nothing in particular',
    happens: refused,
    fix: 'Give the term id, name or tags.',
  },
  KPU113: {
    title: 'The name template gives no name of its own to a machine',
    happens: refused,
    fix: 'Use {{node}} in spec.dns.nameTemplate and end it with .{{zone}}.',
  },
  KPU114: {
    title: 'The Kraftlet chart has no version',
    happens: refused,
    fix: 'Set spec.kraftlet.version.',
  },
  KPU115: {
    title: 'A tag is reserved',
    happens: refused,
    fix: 'Choose another name for the tag.',
  },
  KPU116: {
    title: 'There is no storage to advertise',
    happens: refused,
    fix: 'Set spec.platform.capacity.volumeStorage, or spec.platform.advertiseStorage to false.',
  },
} as const satisfies Record<string, Explanation>;
