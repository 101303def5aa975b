import type { TransactionParts } from '../src/domain/orders/merge-lines.ts'
import { paid } from './basket.ts'
import { timeText } from './calendar.ts'
import { changesOf } from './changes.ts'
import { dollars } from './money.ts'
import type { Style } from './products.ts'
import { idOf } from './references.ts'
import type { Sale } from './sales.ts'

const genderNames = { women: 'Women', men: 'Men', unisex: 'Unisex' } as const

/** Yields the styles as rows for `upsertProducts`, one per colour and size. */
export function productRows(styles: readonly Style[]) {
  const change = changesOf('products')
  return styles.flatMap(style => {
    const product = {
      productId: style.id,
      productCode: style.code,
      name: style.name,
      description: style.description,
      sizeRange: style.sizeRange,
      referenceValues: {
        brand: idOf('brand', style.brand),
        season: idOf('season', style.season),
        gender: idOf('gender', genderNames[style.gender]),
        fabric: idOf('fabric', style.fabric),
        category: idOf('category', style.category.name),
      },
      ...change(Math.max(style.launched, ...style.colours.map(colour => colour.markedDown ?? 0))),
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
          originalPrice: dollars(style.price),
          price: dollars(colour.price),
          barcode: size.barcode,
        },
      })),
    )
  })
}

/** Yields the sales as rows for `upsertTransactions`, one per line. */
export function transactionRows(sales: readonly Sale[]): TransactionParts[] {
  let lineId = 700_000
  return sales.flatMap(sale => {
    const header = {
      id: sale.id,
      number: sale.number,
      orderNumber: sale.orderNumber,
      channel: sale.channel,
      type: sale.type,
      saleDate: timeText(sale.day, sale.second),
      customerId: sale.shopper?.row.id ?? null,
      storeNumber: sale.place?.number ?? null,
      storeName: sale.place?.name ?? null,
    }
    // The place of sale decides. The back office and the web warehouse are in Australia.
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
        price: dollars(line.price),
        value: dollars(paid(line)),
        taxPercent,
        discounts: line.discount
          ? [
              {
                type: line.discount.type,
                reason: line.discount.reason,
                amount: dollars(line.off * Math.abs(line.quantity)),
                percentage: String(line.discount.percent),
              },
            ]
          : [],
      },
    }))
  })
}
