/** A row of figures, for people and as JSON. */
import { rounded } from '../webhook/statistics.ts';
import { podsPerSecond, type Peer, type Row } from './bars.ts';
import { recordedOf } from './recorded.ts';

/** `mix of 1000: 20,000 Pods/s, 200 machines, 279.50 USD/h; Karpenter 180, 200, 346.54: 111 ×` */
export function lineOf(row: Row): string {
  const { asked, ours, peer } = row;
  const own = figures(podsPerSecond(row), ours.claims, ours.price);
  const waiting = ours.waiting
    ? `, ${ours.waiting} Pods would wait for ever in the plan's order`
    : '';
  const held = `at most ${Math.round(ours.peakMiB)} MiB`;
  return `${asked.name}: ${own}, ${held}${waiting}; ${besideOf(row, peer)}`;
}

function besideOf(row: Row, peer: Peer | undefined): string {
  if (peer) {
    const ratio = podsPerSecond(row) / peer.podsPerSecond;
    const its = figures(peer.podsPerSecond, peer.Claims, peer.Price);
    if (peer.stopped) return `Karpenter stopped, at most ${its}: at least ${ratio.toFixed(1)} ×`;
    return `Karpenter ${its}, at most ${Math.round(peer.PeakMiB ?? 0)} MiB: ${ratio.toFixed(1)} ×`;
  }
  const once = recordedOf(row.asked);
  if (!once) return 'Karpenter not asked';
  return `Karpenter not asked, recorded ${figures(once.podsPerSecond, once.claims, once.price)}`;
}

function figures(rate: number, machines: number, price: number): string {
  return `${Math.round(rate)} Pods/s, ${machines} machines, ${price.toFixed(2)} USD/h`;
}

/** Pods/s; milliseconds; USD per hour; MiB. */
export function detailsOf(row: Row) {
  const { asked, ours, peer } = row;
  const once = recordedOf(asked);
  return {
    case: asked.name,
    pods: asked.Pods,
    nodes: asked.Nodes,
    ours: {
      podsPerSecond: Math.round(podsPerSecond(row)),
      milliseconds: {
        cold: rounded(ours.coldSeconds * 1000),
        warm: rounded(ours.seconds * 1000),
        later: rounded(ours.laterSeconds * 1000),
        trip: rounded(ours.tripSeconds * 1000),
      },
      microsecondsPerPod: rounded((ours.seconds * 1e6) / asked.Pods),
      machines: ours.claims,
      onNodes: ours.onNodes,
      price: rounded(ours.price),
      readMiB: Math.round(ours.readMiB),
      peakMiB: Math.round(ours.peakMiB),
      ...(ours.waiting !== undefined && { waiting: ours.waiting }),
    },
    ...(peer && {
      karpenter: peerDetails(peer),
      ratio: rounded(podsPerSecond(row) / peer.podsPerSecond),
    }),
    ...(!peer && once && { recorded: once }),
  };
}

function peerDetails(peer: Peer) {
  return {
    podsPerSecond: rounded(peer.podsPerSecond),
    printed: peer.printed,
    stopped: peer.stopped,
    milliseconds: rounded(peer.Seconds * 1000),
    machines: peer.Claims,
    onNodes: peer.OnNodes,
    price: rounded(peer.Price),
    ...(peer.PeakMiB !== undefined && { peakMiB: Math.round(peer.PeakMiB) }),
  };
}
