// Values beside the pointer, wherever a figure has them.
const tip = document.getElementById("tip");
document.addEventListener("pointerover", (event) => {
  const text = event.target.dataset ? event.target.dataset.tip : undefined;
  tip.hidden = text === undefined;
  if (text === undefined) return;
  tip.textContent = text;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4)) + "px";
  tip.style.top = (event.clientY > height + 16 ? event.clientY - height - 10 : event.clientY + 16) + "px";
});
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
