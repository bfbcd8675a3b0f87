/** What moto does instead, and the words that a story then ends with. */
export interface Difference {
  readonly why: string;
  readonly says: RegExp;
}

const passes = (why: string): Difference => ({
  why,
  says: /promise resolved .* instead of rejecting/,
});

const otherCode: Difference = {
  why: 'a DELETE of what is not there, or reads otherwise, is refused as InvalidInput',
  says: /InvalidInput/,
};

/**
 * Where moto 5.2.1 is known to differ from AWS, by story. Whatever else differs fails, and so does a story that is
 * listed here and ends otherwise or well: then the line goes.
 */
export const knownOfMoto: Readonly<Record<string, Difference>> = {
  'EC2: a root disk without a size is as large as the image': {
    why: 'a mapping needs a size or a snapshot, also that of the root device',
    says: /MissingParameter: The request must contain the parameter size or snapshotId/,
  },
  'EC2: an instance that has nested virtualisation says so': {
    why: 'CpuOptions are not told of an instance',
    says: /runsGuests/,
  },
  'EC2: the same launch again is the same instance': {
    why: 'client tokens are ignored',
    says: /expected 'i-\w+' to be 'i-\w+'/,
  },
  'EC2: the token of another launch is refused': passes('client tokens are ignored'),
  'EC2: a size of another architecture than the image is refused': passes(
    'architectures are not compared',
  ),
  'EC2: nested virtualisation is refused where a size has none': passes('CpuOptions are ignored'),
  'Route 53: a zone is found by its name and may be written to': otherCode,
  'Route 53: a batch happens whole or not at all': passes(
    'a name may be created twice in one batch',
  ),
  'Route 53: only what is there, to the value, can be deleted': otherCode,
  'Route 53: what is not there cannot be deleted': otherCode,
  'Route 53: an address is an address': passes('values are not looked at'),
  'Route 53: an alias stands alone under its name': passes('a CNAME may stand beside others'),
  'STS: another external id is refused': passes('trust policies are not looked at'),
};
