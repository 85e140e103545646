// Draws the pictures of package chart with Apache ECharts, in a page or as an SVG file.
"use strict"
const charts = (() => {
  const palette = "PALETTE"
  const font = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
  const shapes = ["circle", "rect", "triangle", "diamond", "path://M0,0L10,0L5,9Z", "path://M3,0H7V3H10V7H7V10H3V7H0V3H3Z"]
  const dashes = ["solid", [7, 3], [2, 2.5], [9, 3, 2, 3]]

  // A policy has the same look in all pictures of a page. The user's policies come first.
  let own = new Set()
  const others = new Map()

  function look(name, muted) {
    if (muted) return { color: palette.muted, variable: "--muted", dash: "solid", shape: "none", own: false }
    if (!own.has(name) && !others.has(name)) others.set(name, others.size)
    const n = own.has(name) ? [...own].indexOf(name) : own.size + others.get(name)
    const hue = n % palette.hues.length, round = Math.floor(n / palette.hues.length)
    return {
      color: palette.hues[hue], variable: "--hue" + hue, dash: dashes[round % dashes.length],
      shape: shapes[(n + round) % shapes.length], own: own.has(name),
    }
  }

  // highlight sets the user's policies.
  function highlight(names) {
    own = new Set(names)
  }

  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }
  const escape = text => text.replace(/[&<>"]/g, c => escapes[c])

  function number(v) {
    if (Math.abs(v) >= 1e6 || v !== 0 && Math.abs(v) < 1e-3) return v.toPrecision(3)
    return v.toLocaleString("en-US", Math.abs(v) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 })
  }

  // tip returns the text beside the pointer.
  function tip(heading, rows) {
    return `<b>${escape(heading)}</b>` + rows.map(([name, text, l]) =>
      `<div class="tip-row${l?.own ? " tip-own" : ""}"><i style="background:var(${l?.variable ?? "--paper"})"></i>` +
      `<span>${escape(name)}</span><b>${escape(text)}</b></div>`).join("")
  }

  // base returns the options that all pictures share. size.live is true in a page.
  function base(c, size, legend) {
    const narrow = size.width < 560
    const title = Math.ceil(c.title.length * 9 / (size.width - 24))
    return {
      animation: false,
      backgroundColor: palette.paper,
      textStyle: { fontFamily: font, color: palette.ink },
      title: [{
        text: c.title, subtext: c.y.label, left: 4, top: 6, itemGap: 6,
        textStyle: { fontSize: 16, color: palette.ink, width: size.width - 24, overflow: "break" },
        subtextStyle: { fontSize: 12.5, color: palette.soft, width: size.width - 24, overflow: "break" },
      }],
      tooltip: size.live ? {
        confine: true, className: "tip", borderWidth: 0, padding: 0, transitionDuration: 0, backgroundColor: "transparent",
        axisPointer: { lineStyle: { color: palette.soft }, label: { show: false } },
      } : undefined,
      grid: {
        left: 10, right: narrow ? 12 : 20, top: 34 + title * 20, bottom: legend.height + 34,
        outerBoundsMode: "same", outerBoundsContain: "axisLabel",
      },
      legend: legend.parts,
    }
  }

  // keys arranges a legend in columns below the picture, and breaks long names.
  function keys(names, size, swatchWidth = 34) {
    if (names.length === 0) return { height: 0, parts: [] }
    const swatch = swatchWidth + 18, length = name => own.has(name) ? (name.length + 2) * 7.6 : name.length * 6.6
    const widest = Math.max(...names.map(length)) + swatch
    const columns = Math.max(1, Math.min(3, Math.floor((size.width - 12) / widest)))
    const rows = Math.ceil(names.length / columns), column = (size.width - 12) / columns
    const lines = name => Math.ceil((length(name) + 8) / (column - swatch))
    const parts = [], heights = []
    for (let i = 0; i < columns; i++) {
      const part = names.slice(i * rows, (i + 1) * rows)
      heights.push(part.reduce((sum, name) => sum + 15 * lines(name) + 6, 8))
      parts.push({
        data: part.map(name => ({ name, textStyle: own.has(name) ? { fontWeight: "bold" } : {} })),
        orient: "vertical", align: "left", left: 6 + i * column, itemGap: 6, itemWidth: swatchWidth, itemHeight: 10, padding: 0,
        inactiveColor: palette.muted, inactiveBorderColor: palette.muted, selectedMode: size.live,
        textStyle: { fontSize: 12, lineHeight: 15, color: palette.ink, width: column - swatch, overflow: "break" },
        formatter: name => own.has(name) ? "▶ " + name : name,
      })
    }
    const height = Math.max(...heights)
    for (const part of parts) part.top = size.body + 8
    return { height, parts }
  }

  const line = color => ({ show: true, lineStyle: { color, width: 1 } })

  function axis(a, more) {
    return {
      type: a.log ? "log" : "value",
      axisLine: line(palette.muted), axisTick: line(palette.muted), splitLine: line(palette.grid),
      axisLabel: { color: palette.soft, fontSize: 12, formatter: number, hideOverlap: true },
      nameLocation: "middle", nameGap: 28, nameTextStyle: { color: palette.soft, fontSize: 12.5 },
      ...more,
    }
  }

  // Math.min(...values) fails for more than about 100,000 values.
  const least = values => values.reduce((a, b) => Math.min(a, b), Infinity)
  const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity)

  // fit adds the limits and ticks of a logarithmic axis over values: 1, 2, 5, 10, ...
  function fit(a, values, more) {
    const option = axis(a, more)
    if (!a.log) return option
    option.min = least(values) / 1.08
    option.max = most(values) * 1.08
    const ticks = [], steps = option.max / option.min < 2000 ? [1, 2, 5] : [1]
    for (let p = Math.floor(Math.log10(option.min)); p <= Math.log10(option.max); p++) {
      for (const s of steps) if (s * 10 ** p >= option.min && s * 10 ** p <= option.max) ticks.push(s * 10 ** p)
    }
    option.axisTick = { ...option.axisTick, customValues: ticks }
    option.axisLabel = { ...option.axisLabel, customValues: ticks }
    return option
  }

  // above returns a round number above v.
  function above(v) {
    const step = 10 ** Math.floor(Math.log10(v)) / 2
    return Math.ceil(v * 1.05 / step) * step
  }

  // zoom zooms the x axes, with the slider or with Ctrl and the wheel.
  function zoom(size, first, bottom, indexes) {
    if (!size.live) return []
    const range = first ? { startValue: first.from, endValue: first.to } : {}
    const both = { xAxisIndex: indexes, filterMode: "none", ...range }
    return [
      { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: false, moveOnMouseWheel: false, preventDefaultMouseMove: false, ...both },
      {
        type: "slider", bottom, height: 22, left: 30, right: 30, brushSelect: false, showDetail: false, ...both,
        borderColor: palette.grid, fillerColor: palette.shade, backgroundColor: palette.paper,
        handleStyle: { color: palette.paper, borderColor: palette.soft }, moveHandleStyle: { color: palette.muted },
        dataBackground: { lineStyle: { color: palette.grid }, areaStyle: { color: palette.grid } },
        selectedDataBackground: { lineStyle: { color: palette.muted }, areaStyle: { color: palette.grid } },
      },
    ]
  }

  function within(s, from, to) {
    const keep = s.x.map(x => x >= from && x <= to)
    return { ...s, x: s.x.filter((x, i) => keep[i]), y: s.y.filter((y, i) => keep[i]) }
  }

  const pairs = s => s.x.map((x, i) => [x, s.y[i]])

  // stroke returns a line with markers, on some of the points if there are many.
  function stroke(s, i, of, shown, narrow) {
    const l = look(s.name, s.muted)
    const step = shown > 40 ? Math.ceil(shown / 7) : 1, at = Math.floor(i * step / of)
    return {
      type: "line", name: s.name, symbol: l.shape, symbolSize: (l.own ? 10 : 7.5) * (narrow ? 0.7 : 1), showSymbol: !s.muted, z: l.own ? 5 : s.muted ? 2 : 3,
      data: pairs(s).map((value, k) => k % step === at ? value : { value, symbol: "none" }),
      lineStyle: { color: l.color, type: l.dash, width: l.own ? 4 : 1.7 },
      itemStyle: { color: l.color, borderColor: palette.paper, borderWidth: 1 },
      emphasis: { focus: "series", lineStyle: { width: l.own ? 4 : 2.5 }, itemStyle: { color: l.color } },
    }
  }

  function lines(c, size) {
    size = { ...size, body: (c.first ? 420 : 360) + (size.live ? 34 : 0) }
    const legend = keys(c.series.map(s => s.name), size)
    const first = c.first ?? { from: -Infinity, to: Infinity }
    if (!size.live) c = { ...c, series: c.series.map(s => within(s, first.from - 1, first.to + 1)) }
    const shown = c.series[0].x.filter(x => x >= first.from && x <= first.to).length
    const xs = c.series.flatMap(s => s.x)
    const ys = c.series.flatMap(s => s.y)
    const limits = !size.live && c.first ? { min: first.from, max: first.to } : { min: "dataMin", max: "dataMax" }
    const option = base(c, size, legend)
    option.grid.bottom += size.live ? 34 : 0
    option.xAxis = fit(c.x, xs, { name: c.x.label, ...c.x.log ? {} : limits })
    if (c.x.log) [option.xAxis.min, option.xAxis.max] = [least(xs), most(xs)]
    const top = c.mark?.y ?? 0
    option.yAxis = fit(c.y, ys, !c.y.log && top > most(ys) ? { max: above(top) } : {})
    option.dataZoom = zoom(size, c.first, legend.height + 8, [0])
    option.series = [
      {
        type: "line", data: [], silent: true, z: 0,
        markArea: {
          silent: true, itemStyle: { color: palette.shade }, label: { color: palette.soft, fontSize: 12, position: "insideTop" },
          data: c.shade ? [[{ xAxis: c.shade.from, name: c.shade.label }, { xAxis: c.shade.to }]] : [],
        },
        markLine: {
          silent: true, symbol: "none", lineStyle: { color: palette.ink, width: 1.2, type: [4, 3] },
          label: { color: palette.ink, fontSize: 12, position: "insideEndTop", formatter: m => m.name },
          data: c.mark ? [{ yAxis: c.mark.y, name: c.mark.label }] : [],
        },
      },
      ...c.series.map((s, i) => stroke(s, i, c.series.length, shown, size.width < 560)), // the legend shows the first series of each name
    ]
    if (size.live) {
      const muted = new Set(c.series.filter(s => s.muted).map(s => s.name))
      Object.assign(option.tooltip, {
        trigger: "axis",
        formatter: points => {
          const rows = points.filter(p => p.seriesType === "line" && p.seriesName).sort((a, b) => b.value[1] - a.value[1])
          return rows.length === 0 ? "" : tip(`${c.x.label}: ${number(rows[0].value[0])}`,
            rows.map(p => [p.seriesName, number(p.value[1]), look(p.seriesName, muted.has(p.seriesName))]))
        },
      })
    }
    return { option, height: size.body + 8 + legend.height }
  }

  function strips(c, size) {
    const room = size.width - 60, rows = Math.max(...c.series.map(s => Math.ceil((s.name.length + 3) * 7.4 / room)))
    const high = 58, names = 5 + 16 * rows, step = high + names + 5, top = 66
    const [first, second] = c.series[0].x, bin = second - first
    const last = Math.max(1, ...c.series.map(s => s.y.findLastIndex(v => v > 0) + 1))
    const highest = most(c.series.flatMap(s => s.y)) || 1
    const option = base(c, size, { height: 0, parts: [] })
    const title = c.series.map((s, i) => ({
      text: (own.has(s.name) ? "▶ " : "") + s.name, left: 44, top: top + i * step + 2, padding: 0,
      textStyle: { fontSize: 12.5, color: palette.ink, fontWeight: own.has(s.name) ? "bold" : "normal", lineHeight: 16, width: room, overflow: "break" },
    }))
    option.title.push(...title)
    option.grid = c.series.map((s, i) => ({ left: 44, right: 24, top: top + i * step + names, height: high, outerBoundsMode: "none" }))
    option.xAxis = c.series.map((s, i) => axis(c.x, {
      gridIndex: i, min: 0, max: last * bin, name: i === c.series.length - 1 ? c.x.label : "",
      axisLabel: { show: i === c.series.length - 1, color: palette.soft, fontSize: 12, formatter: number, hideOverlap: true },
    }))
    option.yAxis = c.series.map((s, i) => axis(c.y, {
      gridIndex: i, min: 0, max: highest, splitLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: palette.soft, fontSize: 11, formatter: number, customValues: [0, highest] },
    }))
    option.series = c.series.map((s, i) => ({
      type: "line", step: "end", name: s.name, xAxisIndex: i, yAxisIndex: i, symbol: "none",
      data: [...s.y.slice(0, last).map((v, k) => [k * bin, v]), [last * bin, 0]].map(([x, y], k, all) => [x, k === all.length - 1 ? all[k - 1][1] : y]),
      lineStyle: { width: 0 }, itemStyle: { color: look(s.name).color }, areaStyle: { color: look(s.name).color, opacity: 1 },
    }))
    const bottom = top + c.series.length * step + 44
    if (size.live) {
      option.dataZoom = zoom(size, undefined, 8, c.series.map((s, i) => i))
      option.axisPointer = { link: [{ xAxisIndex: "all" }] }
      Object.assign(option.tooltip, {
        trigger: "axis",
        formatter: bins => tip(`${number(bins[0].value[0])} to ${number(bins[0].value[0] + bin)} s`,
          bins.map(p => [p.seriesName, number(p.value[1]), look(p.seriesName)])),
      })
    }
    return { option, height: bottom + (size.live ? 36 : 0) }
  }

  const kinds = { lines, strips }
  const describe = (c, size) => kinds[c.kind](c, size)

  // drawn maps each picture to the function that draws it at a given width.
  const drawn = new Map()
  if (typeof document !== "undefined") {
    const each = (live, width) => drawn.forEach((show, box) => show(live, width ?? box.clientWidth))
    addEventListener("beforeprint", () => each(false, 660))
    addEventListener("afterprint", () => each(true))
  }

  // draw draws a picture as wide as its element. The lines of one section zoom and switch
  // together.
  function draw(box, c) {
    for (const old of drawn.keys()) {
      if (old.isConnected) continue
      echarts.getInstanceByDom(old)?.dispose()
      drawn.delete(old)
    }
    const plot = echarts.init(box, null, { renderer: "svg", width: 720, height: 400 })
    let width = 0
    const show = (live, to) => {
      if (to === 0) return
      const { option, height } = describe(c, { width: to, live })
      box.style.height = height + "px"
      plot.resize({ width: to, height })
      plot.setOption(option, true)
    }
    const resize = () => {
      if (box.clientWidth !== width) show(true, width = box.clientWidth)
    }
    resize()
    new ResizeObserver(resize).observe(box)
    drawn.set(box, show)
    if (c.kind === "lines") {
      plot.group = "section" + [...document.querySelectorAll("section")].indexOf(box.closest("section"))
      echarts.connect(plot.group)
    }
  }

  // svg returns a picture as an SVG file.
  function svg(c, width) {
    const size = { width, live: false }
    const { option, height } = describe(c, size)
    const plot = echarts.init(null, null, { renderer: "svg", ssr: true, width, height })
    plot.setOption(option)
    const text = plot.renderToSVGString()
    plot.dispose()
    return text
  }

  return { draw, svg, highlight, look }
})()
