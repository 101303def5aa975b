import { createNoDataError } from '../http/errors.ts'
import { parseInteger } from '../http/request.ts'
import { respondOk } from '../http/responses.ts'
import type { Handler } from '../http/router.ts'
import { formatIso } from '../shop/clock.ts'
import type { OrderLine } from '../shop/sales.ts'
import type { Shop } from '../shop/shop.ts'
import { hasFeature } from '../world/world.ts'
import { array, el, fields } from '../xml/element.ts'
import { requirePerson } from './persons.ts'

/** Groups shipped lines by consignment note. Leaves out vouchers and freight. */
const groupParcels = (lines: readonly OrderLine[], shop: Shop) =>
  Map.groupBy(
    lines.filter(
      ({ status, skuId, quantity }) =>
        quantity > 0 && (status === 'Shipped' || status === 'Returned') && !shop.skus.get(skuId)?.colour.style.special,
    ),
    ({ conNote }) => conNote,
  )

function buildContent({ skuId, quantity }: OrderLine, shop: Shop) {
  const sku = shop.skus.get(skuId)
  return el('Content', [
    ...fields({ ProductCode: sku?.colour.style.code, ColourCode: sku?.colour.code, SizeCode: sku?.size }),
    ...fields({ SkuId: skuId, Quantity: quantity }),
  ])
}

/** Lists the shipments of an order. Throws "no data found" if nothing was despatched. */
export const listShipments: Handler = (request, world) => {
  const { shop } = world
  const person = requirePerson(request, world)
  const order = shop.orders.get(parseInteger(request.parameters[1]) ?? 0)
  if (order?.personId !== person.id) throw createNoDataError()
  const parcels = groupParcels(order.lines, shop)
  if (!parcels.size) throw createNoDataError()
  return respondOk(
    array(
      'Shipments',
      [...parcels].map(([conNote, lines]) => {
        const contents = lines.map(line => buildContent(line, shop))
        return el('Shipment', [
          ...fields({ CarrierName: lines[0]?.carrier }),
          ...fields({ CarrierUrl: conNote && `https://track.example.test/${conNote}`, ConNote: conNote }),
          ...fields({ DespatchDate: formatIso(order.updated) }),
          array('Contents', contents),
          hasFeature(world, 'shipmentCartons')
            ? array('PackedCartonContents', [
                el('PackedCarton', [...fields({ CartonNumber: 1 }), array('Contents', contents)]),
              ])
            : undefined,
        ])
      }),
    ),
  )
}
