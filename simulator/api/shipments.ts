import { ok } from '../http/answers.ts'
import { nothing } from '../http/errors.ts'
import { whole } from '../http/request.ts'
import type { Handler } from '../http/router.ts'
import { isoText } from '../shop/clock.ts'
import type { OrderLine } from '../shop/sales.ts'
import type { Shop } from '../shop/shop.ts'
import { has } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { personOf } from './persons.ts'

/** Shipped lines, by consignment note. Freight is not in a parcel. */
const parcelsOf = (lines: readonly OrderLine[], shop: Shop) =>
  Map.groupBy(
    lines.filter(
      ({ status, skuId, quantity }) =>
        quantity > 0 && (status === 'Shipped' || status === 'Returned') && !shop.skus.get(skuId)?.colour.style.special,
    ),
    ({ conNote }) => conNote,
  )

function content({ skuId, quantity }: OrderLine, shop: Shop) {
  const sku = shop.skus.get(skuId)
  return el('Content', [
    ...fields({ ProductCode: sku?.colour.style.code, ColourCode: sku?.colour.code, SizeCode: sku?.size }),
    ...fields({ SkuId: skuId, Quantity: quantity }),
  ])
}

/** The shipments of an order. An order of which nothing was despatched has none. */
export const shipmentsOfOrder: Handler = (request, world) => {
  const { shop } = world
  const person = personOf(request, world)
  const order = shop.orders.get(whole(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id) throw nothing()
  const parcels = parcelsOf(order.lines, shop)
  if (!parcels.size) throw nothing()
  return ok(
    array(
      'Shipments',
      [...parcels].map(([conNote, lines]) => {
        const contents = lines.map(line => content(line, shop))
        return el('Shipment', [
          ...fields({ CarrierName: lines[0]?.carrier }),
          ...fields({ CarrierUrl: conNote && `https://track.example.test/${conNote}`, ConNote: conNote }),
          ...fields({ DespatchDate: isoText(order.updated) }),
          array('Contents', contents),
          has(world, 'shipmentCartons')
            ? array('PackedCartonContents', [
                el('PackedCarton', [...fields({ CartonNumber: 1 }), array('Contents', contents)]),
              ])
            : undefined,
        ])
      }),
    ),
  )
}
