/**
 * Suggests tools to a caller that named an unknown one: the nearest by the names that this door lists. The gateway
 * knows other names, and not the workflows that are served beside its tools.
 */
import { distance, nearest, nearestServed } from '../../../core/values/nearest.ts';
import { adviseOf, cutOffer, totalOf } from '../../../core/call/offer-tools.ts';
import { isRefusal, type Reply, type UnknownActionReply } from '../../../core/call/reply.ts';
import { toolsOf } from '../door-names.ts';
import { listTools } from '../list-tools.ts';
import type { DirectTools } from '../parts.ts';
import type { Serving } from '../serving.ts';

interface Offered {
  /** The name that the door lists. */
  readonly name: string;
  /** The gateway's name. */
  readonly own: string;
}

/** Null for any other reply, and where only a workflow is served: all its actions are in the reply. */
export function suggestTools(reply: Reply, given: string | null, serving: Serving): UnknownActionReply | null {
  const { tools, workflow } = serving.parts;
  if (!isRefusal(reply) || reply.error !== 'unknown_action') return null;
  if (tools === null || workflow !== null || given === null) return null;
  const all = [...ofServers(reply, tools, serving), ...ofWorkflows(serving)];
  const near = nearestOf(given, reply, all);
  const known = offerOf(given, reply, all);
  const total = totalOf(known);
  const isShut = new Set(reply.known_actions.filter((own) => !reply.valid_next_actions.includes(own)));
  const open =
    isShut.size === 0
      ? known
      : offerOf(
          given,
          reply,
          all.filter(({ own }) => !isShut.has(own)),
        );
  const openTotal = totalOf(open);
  const { known_total: _known, next_total: _next, ...rest } = reply;
  const hint = near === null ? '' : ` Did you mean '${near}'?`;
  return {
    ...rest,
    message: `${reply.message.replace(/ Did you mean '.*'\?$/, '')}${hint}`,
    resolution: { type: 'choose_action', actions: near === null ? adviseOf(open) : [near] },
    known_actions: known,
    ...(total === null ? {} : { known_total: total }),
    did_you_mean: near,
    valid_next_actions: open,
    ...(openTotal === null ? {} : { next_total: openTotal }),
  };
}

/** The tools in the reply or, if the gateway shortened its list, the listed ones, unless the session may use fewer. */
function ofServers(reply: UnknownActionReply, tools: DirectTools, { connection }: Serving): readonly Offered[] {
  const { known_actions: told, known_total: total = told.length } = reply;
  const listed = tools.catalogue(connection.who);
  const { write } = tools.names();
  return (listed.size === total ? [...listed.keys()] : told).map((own) => ({ own, name: write(own) }));
}

function ofWorkflows({ workflows, connection }: Serving): readonly Offered[] {
  return workflows.flatMap((parts) => {
    const { read } = toolsOf(parts);
    const names = listTools(parts, connection.who).map((tool) => String(tool['name']));
    return names.map((name) => ({ name, own: `${parts.workflow?.name}/${read(name)}` }));
  });
}

/** A name with a slash is a name of the gateway. */
function nearestOf(given: string, { requested }: UnknownActionReply, all: readonly Offered[]): string | null {
  const names = all.map(({ name }) => name);
  const owns = all.map(({ own }) => own);
  const asked = requested ?? given;
  const own = nearest(asked, owns) ?? nearestServed(asked, owns);
  const meant = own === null ? null : (all.find((each) => each.own === own)?.name ?? null);
  return given.includes('/') ? (meant ?? nearest(given, names)) : (nearest(given, names) ?? meant);
}

function offerOf(given: string, { requested }: UnknownActionReply, all: readonly Offered[]): readonly string[] {
  const owns = new Map(all.map(({ name, own }) => [name, own]));
  return cutOffer([...owns.keys()], (name) =>
    Math.min(distance(given, name), distance(requested ?? given, owns.get(name) ?? name)),
  );
}
