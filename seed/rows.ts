import type { TransactionParts } from '../src/domain/orders/merge-lines.ts'
import { computePaid } from './basket.ts'
import { formatTime } from './calendar.ts'
import { createChangeTimeDraw } from './changes.ts'
import { formatDollars } from './money.ts'
import type { Style } from './products.ts'
import { findReferenceId } from './references.ts'
import type { Sale } from './sales.ts'

const genderNames = { women: 'Women', men: 'Men', unisex: 'Unisex' } as const

/** Builds the styles as rows for `upsertProducts`, one per colour and size. */
export function buildProductRows(styles: readonly Style[]) {
  const drawChangeTime = createChangeTimeDraw('products')
  return styles.flatMap(style => {
    const product = {
      productId: style.id,
      productCode: style.code,
      name: style.name,
      description: style.description,
      sizeRange: style.sizeRange,
      referenceValues: {
        brand: findReferenceId('brand', style.brand),
        season: findReferenceId('season', style.season),
        gender: findReferenceId('gender', genderNames[style.gender]),
        fabric: findReferenceId('fabric', style.fabric),
        category: findReferenceId('category', style.category.name),
      },
      ...drawChangeTime(Math.max(style.launched, ...style.colours.map(colour => colour.markedDown ?? 0))),
    }
    return style.colours.flatMap(colour =>
      colour.sizes.map(size => ({
        product,
        colour: {
          productId: style.id,
          colourId: colour.id,
          code: colour.code,
          name: colour.name,
          ecommerceProductId: colour.ecommerceProductId,
          markdownStatus: colour.markdownStatus,
        },
        variant: {
          productId: style.id,
          colourId: colour.id,
          skuId: size.id,
          sku: size.sku,
          sizeCode: size.size,
          sequence: size.sequence,
          originalPrice: formatDollars(style.price),
          price: formatDollars(colour.price),
          barcode: size.barcode,
        },
      })),
    )
  })
}

/** Builds the sales as rows for `upsertTransactions`, one per line. */
export function buildTransactionRows(sales: readonly Sale[]): TransactionParts[] {
  let lineId = 700_000
  return sales.flatMap(sale => {
    const header = {
      id: sale.id,
      number: sale.number,
      orderNumber: sale.orderNumber,
      channel: sale.channel,
      type: sale.type,
      saleDate: formatTime(sale.day, sale.second),
      customerId: sale.shopper?.row.id ?? null,
      storeNumber: sale.place?.number ?? null,
      storeName: sale.place?.name ?? null,
    }
    // The place of sale decides the tax. The back office and the web warehouse are in Australia.
    const taxPercent = sale.place?.country === 'New Zealand' ? '15' : '10'
    return sale.lines.map((line, i) => ({
      header,
      line: {
        id: String(++lineId),
        sequence: i + 1,
        sku: line.sku,
        productCode: line.productCode,
        productName: line.productName,
        colourCode: line.colourCode,
        colourName: line.colourName,
        sizeCode: line.sizeCode,
        quantity: line.quantity,
        price: formatDollars(line.price),
        value: formatDollars(computePaid(line)),
        taxPercent,
        discounts: line.discount
          ? [
              {
                type: line.discount.type,
                reason: line.discount.reason,
                amount: formatDollars(line.discountCents * Math.abs(line.quantity)),
                percentage: String(line.discount.percent),
              },
            ]
          : [],
      },
    }))
  })
}
