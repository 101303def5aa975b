import { fromZero, respondPaged } from '../http/paging.ts'
import type { Handler } from '../http/router.ts'
import type { Transaction, TransactionLine } from '../shop/records.ts'
import type { World } from '../world/world.ts'
import { array, type Element, el, fields } from '../xml/element.ts'
import { buildCurrency } from './person-xml.ts'
import { requirePerson } from './persons.ts'

function buildLine(line: TransactionLine, sequence: number, { shop }: World): Element {
  const sku = shop.skus.get(line.skuId)
  const { colour } = sku ?? {}
  return el('Detail', [
    ...fields({ Id: line.id, Sequence: sequence, ProductCode: colour?.style.code, ProductName: colour?.style.name }),
    ...fields({ ColourCode: colour?.code, ColourName: colour?.name, SizeCode: sku?.size, Quantity: line.quantity }),
    ...fields({ Price: line.price, Value: line.value, TaxPercentage: line.taxPercent }),
    array(
      'Discounts',
      line.discounts.map(({ id, type, reason, amount, percent }, i) =>
        el(
          'Discount',
          fields({ Id: id, Sequence: i + 1, Type: type, Reason: reason, Amount: amount, Percentage: percent }),
        ),
      ),
      { TotalRows: line.discounts.length },
    ),
  ])
}

function buildTransaction(sale: Transaction, number: number, world: World): Element {
  const store = world.shop.stores.get(sale.storeId)
  const online = sale.orderNumber !== ''
  return el('Transaction', [
    ...fields({ RowNumber: number, Id: sale.id, Number: sale.number, OrderNumber: sale.orderNumber, Type: sale.type }),
    ...fields({ SaleDate: `${sale.day}T00:00:00` }),
    ...fields({
      StoreCode: world.settings.transactionStoreCode === 'code' ? store?.code : store?.number,
      StoreName: store?.name,
    }),
    buildCurrency(sale.currency),
    ...(online
      ? fields({
          Carrier: sale.carrier,
          CarrierUrl: sale.carrierUrl,
          ConNote: sale.conNote,
          ServiceType: sale.serviceType,
        })
      : []),
    array(
      'Details',
      sale.lines.map((line, i) => buildLine(line, i, world)),
      { TotalRows: sale.lines.length },
    ),
  ])
}

/** Lists a person's purchases that were despatched or picked up. The API has no list for all persons. */
export const listTransactions: Handler = (request, world) => {
  const person = requirePerson(request, world)
  const order = request.query('OrderNumber')?.toLowerCase()
  const rows = world.shop.transactions.filter(
    sale => sale.personId === person.id && (!order || sale.orderNumber.toLowerCase() === order),
  )
  const buildRow = (sale: Transaction, number: number) => buildTransaction(sale, number, world)
  return respondPaged(request, world, { name: 'Transactions', rows, row: buildRow, unpaged: fromZero })
}
