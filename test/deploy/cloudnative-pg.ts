import { type TSchema, Type } from 'typebox'

const closed = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false })
const name = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 50 })
const quantity = Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?(m|[KMGTPE]i?)?$' })
const quantities = closed({ cpu: Type.Optional(quantity), memory: Type.Optional(quantity) })

/**
 * The part of CloudNativePG's `Cluster` (postgresql.cnpg.io/v1) that the example uses, because no package has its schema.
 * If you add a field, compare it with the operator's custom resource definition.
 */
export const Cluster = closed({
  apiVersion: Type.Literal('postgresql.cnpg.io/v1'),
  kind: Type.Literal('Cluster'),
  metadata: closed({ name }),
  spec: closed({
    instances: Type.Integer({ minimum: 1 }),
    imageName: Type.String({ pattern: '^[a-z0-9./-]+:[0-9]+$' }),
    bootstrap: closed({
      initdb: closed({
        database: Type.String(),
        owner: Type.String(),
        encoding: Type.Literal('UTF8'),
        localeCollate: Type.String(),
        localeCType: Type.String(),
        dataChecksums: Type.Boolean(),
      }),
    }),
    postgresql: closed({
      synchronous: closed({
        method: Type.Union([Type.Literal('any'), Type.Literal('first')]),
        number: Type.Integer({ minimum: 1 }),
      }),
      // The operator accepts strings only.
      parameters: Type.Record(Type.String({ pattern: '^[a-z_.]+$' }), Type.String()),
    }),
    storage: closed({ size: quantity }),
    resources: closed({ requests: quantities, limits: quantities }),
    affinity: closed({
      podAntiAffinityType: Type.Union([Type.Literal('required'), Type.Literal('preferred')]),
      topologyKey: Type.String(),
    }),
  }),
})
